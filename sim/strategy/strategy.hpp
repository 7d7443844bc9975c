// What a strategy is: a function from workload, cluster, placement and knobs to the tasks of a few training steps.
#pragma once

#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/settings.hpp"
#include "sim/engine/task_graph.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// What the GPU's time goes to; the keys of the breakdown.
enum class Account : std::uint8_t { compute, exposed_communication, input_stall, host, optimizer, other };
inline constexpr std::size_t kAccountCount = 6;

/// Options of the strategies, as the frameworks name them (docs/reference/scenario.md). Defaults are the frameworks' own.
struct StrategyKnobs {
  Bytes bucket_cap{25 << 20};            ///< ddp
  Bytes first_bucket{1 << 20};           ///< ddp
  int accumulation = 1;                  ///< micro-steps per optimizer step, with no_sync
  bool find_unused_parameters = false;   ///< ddp
  bool static_graph = false;             ///< ddp
  bool gradient_as_bucket_view = false;  ///< ddp
  bool broadcast_buffers = true;         ///< ddp
  bool wrap_one_gpu = false;             ///< ddp: also wrap the model when there is one process
};

/// The models of one GPU and its host that a plan is priced with.
struct DeviceModel {
  KernelCalibration kernel;
  HostCalibration host;
  double input_time_scale = 1;  ///< on the time the input pipeline takes for a batch, from an anchor
  double rank_spread = 0.01;    ///< standard deviation of step time between ranks (docs/models/stragglers.md)
};

struct PlanRequest {
  const Workload& workload;
  const Cluster& cluster;
  const Placement& placement;
  const StrategyKnobs& knobs;
  const DeviceModel& device;
  int steps = 3;
  CollectiveSettings collective{};
};

/// Tasks of `steps` optimizer steps on the representative (slowest) rank, with the collectives' traffic of all ranks.
struct Plan {
  TaskGraph graph;
  std::vector<TaskId> step_ends;  ///< last task of each step on the GPU
  std::vector<Bytes> buckets;     ///< all-reduced per step, launch order; empty for one GPU
  Bytes extra_memory{};           ///< what the strategy holds on the GPU besides the gradients
  Decisions decisions;
};

using PlanFunction = Plan (*)(const PlanRequest&);

}  // namespace foretrain
