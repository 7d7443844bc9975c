// What measurements on GPUs share: the machine, the libraries that were found, the rank of this process.
#pragma once

#include <memory>

#include "calibrate/micro/gpu/nvml.hpp"
#include "calibrate/micro/plan/machine.hpp"
#include "calibrate/micro/plan/rendezvous.hpp"

namespace foretrain::micro {

struct Cublas;
struct Cudnn;
struct Nccl;

struct Session {
  Machine machine;
  JobRank job;
  AllGather gather = alone();
  std::shared_ptr<const Cublas> cublas;  ///< nullptr: not found
  std::shared_ptr<const Cudnn> cudnn;
  std::shared_ptr<const Nccl> nccl;
  std::shared_ptr<const Nvml> nvml;
  Settings provenance;
  std::string program;  ///< its own path, for child processes

  /// The GPU of this process; 0 when it is the only one.
  int device() const { return machine.ranks > 1 ? job.local_rank % machine.gpu_count() : 0; }
};

/// Finds GPUs and libraries. Throws EnvironmentError, one sentence, when no GPU can be used: no driver, one
/// older than the CUDA runtime here, no GPU, or none that this build has kernels for.
Session open_session(const JobRank& job, const std::string& rendezvous_folder);

/// Whether a kernel still runs on the session's GPU; true where there is none.
bool gpu_works(const Session& session);

/// Of a process that measures the host alone.
Session open_host_session();

/// host, date, cpu, tool: what every samples file states.
Settings host_provenance();

}  // namespace foretrain::micro
