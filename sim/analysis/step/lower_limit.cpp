// Lower bounds of a step come from two facts: a stream runs one kernel after the other, and a batch passes
// every part of the input pipeline. The work of a strategy comes on top of both.
#include "sim/analysis/step/lower_limit.hpp"

#include <algorithm>

#include "sim/analysis/step/replicated_step.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/strategy/process/input_pipeline.hpp"
#include "sim/workload/device/operator_costs.hpp"

namespace foretrain {

namespace {

/// Margin for rounding: the simulation rounds each duration to the picosecond by itself.
constexpr double kRounding = 1 - 1e-6;

/// Returns the kernel time of forward and backward on one batch, in seconds.
double kernels_of_a_batch(const Scenario& scenario, std::int64_t batch, const DeviceModel& device) {
  OperatorCosts costs(scenario.workload, scenario.cluster.node.gpu);
  costs.use(device.kernel, device.host);
  double sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) sum += costs.at(i, batch).kernel_s;
  return sum * device.kernel.time_scale;
}

/// Returns the time between two batches from the narrowest part of the input pipeline. Zero for strategies
/// whose process loads for several GPUs, because their batches differ from this one.
double input_of_a_batch(const StepSimulator& simulator, int gpus, std::int64_t batch,
                        const DeviceModel& device) {
  const Scenario& scenario = simulator.scenario();
  const StrategyEntry* strategy = find_strategy(scenario.strategy);
  const bool is_own = strategy != nullptr && strategy->processes == Processes::per_gpu;
  if (!is_own || scenario.workload.data.loader == LoaderKind::none) return 0;
  Workload workload = scenario.workload;
  workload.batch_per_gpu = batch;
  const NodeSpec& node = scenario.cluster.node;
  const Placement placement = simulator.placement(gpus);
  const auto beside = std::ranges::count_if(
      placement.ranks, [&](const GpuPlace& place) { return place.node == placement.ranks.front().node; });
  const InputCosts costs = input_costs(workload, {node, steady_storage(workload, scenario.cluster),
                                                  static_cast<int>(beside), placement.size()});
  const Time of_cores = on_cores(costs.worker_cpu + costs.pinning, costs.cores);
  const bool in_main_thread = workload.data.workers_per_gpu == 0;
  // The main thread does all work in turn if there are no workers; otherwise the stages run concurrently and
  // the slowest sets the pace. Storage is read concurrently in both cases.
  const Time made = in_main_thread ? costs.one_batch + costs.pinning
                                   : std::max({costs.workers, costs.memory, costs.pinning, of_cores});
  return to_seconds(std::max(made, costs.storage)) * device.input_time_scale;
}

}  // namespace

StepLimit step_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device) {
  return simulator.model().lower_limit(simulator, gpus, device);
}

StepLimit ReplicatedStep::lower_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device) {
  const Scenario& scenario = simulator.scenario();
  if (!simulator.has_alike_ranks()) return {};
  const std::int64_t batch = simulator.batch_per_gpu(gpus);
  const double micro_steps = scenario.knobs.accumulation * kRounding;
  return {kernels_of_a_batch(scenario, batch, device) * micro_steps,
          input_of_a_batch(simulator, gpus, batch, device) * micro_steps};
}

}  // namespace foretrain
