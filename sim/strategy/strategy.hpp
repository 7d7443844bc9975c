// What a strategy is: a function from workload, cluster, placement and knobs to the tasks of a few training
// steps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/settings.hpp"
#include "sim/engine/task_graph.hpp"
#include "sim/strategy/options.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// What the GPU's time goes to; the keys of the breakdown.
enum class Account : std::uint8_t { compute, exposed_communication, input_stall, host, optimizer, other };
inline constexpr std::size_t kAccountCount = 6;

/// The models of one GPU and its host that a plan is priced with.
struct DeviceModel {
  KernelCalibration kernel;
  HostCalibration host;
  double input_time_scale = 1;          ///< on the time the input pipeline takes for a batch, from an anchor
  double communication_time_scale = 1;  ///< on latencies and bytes of everything between GPUs
  double rank_spread = 0.01;    ///< standard deviation of step time between ranks (docs/models/losses.md)
  double busy_node = 0;         ///< by how much kernels are slower when all GPUs of a node work
  double busy_host = 0;         ///< by how much host calls are slower then
  double collective_share = 1;  ///< what collectives take of a GPU, over the formula's
};

struct PlanReuse;  // plan_reuse.hpp

struct PlanRequest {
  const Workload& workload;
  const Cluster& cluster;
  const Placement& placement;
  const StrategyOptions& knobs;
  const DeviceModel& device;
  int steps = 3;
  CollectiveSettings collective{};
  PlanReuse* reuse =
      nullptr;  ///< of this workload, whatever its batch, and this cluster; none: everything is computed anew
  CallCosts calls{};

  /// What the strategy was told, or its defaults: to be asked for once per plan, not per task.
  template <typename Options>
  const Options& options() const {
    return knobs.get<Options>();
  }
};

/// Tasks of `steps` optimizer steps on the representative (slowest) rank, with the collectives' traffic of
/// all ranks.
struct Plan {
  TaskGraph graph;
  std::vector<TaskId> step_ends;  ///< last task of each step on the GPU
  std::vector<Bytes>
      buckets;            ///< messages that carry the gradients of a step, launch order; empty for one GPU
  StrategyMemory memory;  ///< of the GPU that holds most
  Decisions decisions;
};

using PlanFunction = Plan (*)(const PlanRequest&);

/// How a strategy is launched: one process per GPU; one per node that drives all its GPUs; one for the whole
/// job, which must then fit into one node.
enum class Processes : std::uint8_t { per_gpu, per_node, one };

/// A row of the catalog: one per strategy, made by the file of the same name.
struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  PlanFunction plan;
  Processes processes = Processes::per_gpu;
  std::optional<FrameworkKind> framework{};  ///< whose it is; none: any
  std::vector<Knob> knobs{};                 ///< besides those that every strategy has
  std::string_view alias{};                  ///< another name people use
};

}  // namespace foretrain
