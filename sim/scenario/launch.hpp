// Start of a job's processes, and the division of the data set among them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/collective/nccl/settings.hpp"

namespace foretrain {

/// Programs that start processes. python: one process, whatever was reserved. mp_spawn: a script that starts
/// one process per GPU by itself.
enum class Launcher : std::uint8_t { torchrun, mp_spawn, srun, mpirun, horovodrun, deepspeed, python };
inline constexpr std::array<std::string_view, 7> kLauncherNames{"torchrun",   "mp_spawn",  "srun",  "mpirun",
                                                                "horovodrun", "deepspeed", "python"};
inline std::string_view name_of(Launcher launcher) {
  return kLauncherNames[static_cast<std::size_t>(launcher)];
}

/// A GPU of the cluster with a slower clock, as a fraction of that of the others.
struct SlowGpu {
  int node = 0, gpu = 0;
  double clock = 0.8;
  SourceSpan span{};
};

/// GPUs that are slow by chance, each GPU of the cluster with probability `share`.
struct SlowDraw {
  double share = 0, clock = 0.8;
  std::int64_t seed = 1;
};

/// Number of nodes of one kind that a job requests.
struct RequestedNodes {
  std::string kind;
  int nodes = 0;
  SourceSpan span{};
};

/// The start of the processes. It suits one strategy; another strategy needs its own.
struct ProcessStart {
  /// none: a launcher that starts as many processes as the strategy needs.
  std::optional<Launcher> with;
  /// 0: as many as the strategy needs.
  int processes_per_node = 0;
};

/// The part of the cluster that the job gets, and how its ranks see each other. It does not depend on the
/// strategy.
struct JobMachine {
  /// Isolation of the ranks, which makes NCCL take every rank for a node of its own; none: no isolation.
  nccl::Isolation isolation = nccl::Isolation::none;
  /// Size of /dev/shm, where the ranks' shared memory is; none: enough.
  std::optional<Bytes> shm{};
  /// Number of nodes over which the GPUs are spread; 0: as few as can hold them.
  int nodes = 0;
  /// Requested nodes, as in the file.
  std::vector<RequestedNodes> asked_nodes{};
  /// Requested nodes by kind; empty: all.
  std::vector<int> nodes_of{};
  /// Nodes of the cluster that the job does not get, ascending.
  std::vector<int> left_out{};
  std::vector<SlowGpu> slow_gpus{};
  SlowDraw slow_draw{};
};

/// The table [launch]. Comparisons of strategies replace the first part, and never the second.
struct Launch : ProcessStart, JobMachine {};

inline constexpr std::array<std::string_view, 3> kIsolationNames{"none", "pod", "container"};

/// The samples that a process trains on. distributed: its share of the data set. none: all samples, like
/// every other process. local_rank: the share of its place in the node, so that all nodes train on the same
/// samples (LOCAL_RANK given to DistributedSampler as the rank).
enum class Sampler : std::uint8_t { distributed, none, local_rank };
inline constexpr std::array<std::string_view, 3> kSamplerNames{"distributed", "none", "local_rank"};

}  // namespace foretrain
