// Counts the steps of an epoch and adds the restart of its data loader.
#include "sim/analysis/step/epoch.hpp"

#include "sim/analysis/step/step_model.hpp"
#include "sim/strategy/process/input_pipeline.hpp"

namespace foretrain {

/// The remaining samples are divided among all parts; the GPU with the most sets the length of the step.
EpochShape epoch_shape(const EpochSteps& steps, std::int64_t parts) {
  return {steps.count(), (steps.rest + parts - 1) / parts};
}

/// Models without a smaller last step (cut networks, programs) count whole steps only.
EpochShape epoch_shape(const Scenario& scenario, int gpus) {
  if (scenario.workload.data.samples <= 0) return {};
  const EpochSteps steps = epoch_steps(scenario, gpus);
  if (!step_model_of(scenario).has_smaller_last_step) return {steps.count(), 0};
  const std::int64_t shares = shares_of_data(scenario, gpus);
  return epoch_shape(steps, shares * scenario.knobs.accumulation);
}

double loader_restart_s(const Workload& workload, const NodeSpec& node) {
  if (workload.data.workers_per_gpu == 0 || workload.data.samples <= 0) return 0;
  return to_seconds(worker_start(workload.data, node.host) + loader_pace(workload, node).one_batch);
}

/// The partial step is one of the steps, so it replaces a full one.
double epoch_s(const EpochShape& shape, double step_s, double partial_step_s, double restart_s) {
  const auto full = static_cast<double>(shape.partial_batch > 0 ? shape.steps - 1 : shape.steps);
  return restart_s + full * step_s + (shape.partial_batch > 0 ? partial_step_s : 0);
}

}  // namespace foretrain
