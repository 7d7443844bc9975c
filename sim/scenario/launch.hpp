// How a job's processes were started, and how they share out the data set.
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

/// What starts the processes. python: one process, whatever was reserved. mp_spawn: a script that starts one
/// process per GPU by itself.
enum class Launcher : std::uint8_t { torchrun, mp_spawn, srun, mpirun, horovodrun, deepspeed, python };
inline constexpr std::array<std::string_view, 7> kLauncherNames{"torchrun",   "mp_spawn",  "srun",  "mpirun",
                                                                "horovodrun", "deepspeed", "python"};
inline std::string_view name_of(Launcher launcher) {
  return kLauncherNames[static_cast<std::size_t>(launcher)];
}

/// A GPU of the cluster whose clock is so much of the others'.
struct SlowGpu {
  int node = 0, gpu = 0;
  double clock = 0.8;
  SourceSpan span{};
};

/// GPUs that are slow by chance: each of the cluster with this probability.
struct SlowDraw {
  double share = 0, clock = 0.8;
  std::int64_t seed = 1;
};

/// Nodes of a kind that a job asks for.
struct RequestedNodes {
  std::string kind;
  int nodes = 0;
  SourceSpan span{};
};

/// How the processes are started. It suits one strategy: another strategy wants its own.
struct ProcessStart {
  std::optional<Launcher> with;  ///< none: something that starts as many processes as the strategy wants
  int processes_per_node = 0;    ///< 0: as many as the strategy wants
};

/// What the job gets of the cluster, and how its ranks see each other. No strategy changes it.
struct JobMachine {
  nccl::Isolation isolation = nccl::Isolation::none;  ///< whether every rank is a node to NCCL
  std::optional<Bytes> shm{};  ///< of /dev/shm, where the ranks' shared memory lies; none: enough
  int nodes = 0;               ///< over which the GPUs are spread; 0: as few as hold them
  std::vector<RequestedNodes> asked_nodes{};  ///< as the file says
  std::vector<int> nodes_of{};                ///< by kind of node; empty: all there are
  std::vector<int> left_out{};                ///< nodes of the cluster that the job does not get, ascending
  std::vector<SlowGpu> slow_gpus{};
  SlowDraw slow_draw{};
};

/// The table [launch]. Comparisons replace the first part with the strategy, and never the second.
struct Launch : ProcessStart, JobMachine {};

inline constexpr std::array<std::string_view, 3> kIsolationNames{"none", "pod", "container"};

/// Which samples a process trains on. distributed: its share of the data set. none: all of them, as every
/// other process does. local_rank: the share of its place in the node, so that all nodes train on the same
/// samples (LOCAL_RANK given to DistributedSampler as the rank).
enum class Sampler : std::uint8_t { distributed, none, local_rank };
inline constexpr std::array<std::string_view, 3> kSamplerNames{"distributed", "none", "local_rank"};

}  // namespace foretrain
