// Delegates to the strategy's own simulator, which the simulator keeps, and adds the figures by which large
// models are compared.
#include "sim/analysis/step/uncut_step.hpp"

#include <fmt/format.h>

#include "sim/analysis/step/cut_step.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/parallel_step.hpp"
#include "sim/analysis/step/replicated_step.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/uncut_layout.hpp"

namespace foretrain {

/// On fewer GPUs than the layout needs, the step is longer in proportion.
SimulatedStep UncutStep::simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                  const DeviceModel& device, Reading reading) {
  const LargeModelRun layout = layout_on(simulator.scenario(), gpus);
  const StepSimulator* own = simulator.as_strategy(layout.gpus());
  if (own == nullptr) return CutStep::simulate(simulator, gpus, batch_per_gpu, device, reading);
  SimulatedStep step = own->simulate(layout.gpus(), layout.micro_batch, device, reading);
  const int node = simulator.placement(layout.gpus()).ranks.front().node;
  if (reading != Reading::time)
    step.large = large_point(layout, step.step_s, simulator.cluster().node_spec(node).gpu);
  if (gpus < layout.gpus()) lengthen(step, static_cast<double>(layout.gpus()) / gpus);
  return step;
}

double UncutStep::evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                           const DeviceModel& device) {
  const LargeModelRun layout = layout_on(simulator.scenario(), gpus);
  const StepSimulator* own = simulator.as_strategy(layout.gpus());
  return own == nullptr ? CutStep::evaluate(simulator, gpus, batch_per_gpu, device)
                        : own->simulate_evaluation(layout.gpus(), batch_per_gpu, device);
}

StepRecording UncutStep::record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                                RecordingSize size) {
  const int most = layout_on(simulator.scenario(), gpus).gpus();
  const StepSimulator* own = simulator.as_strategy(most);
  return own == nullptr ? CutStep::record(simulator, gpus, device, size) : own->record(most, device, size);
}

/// A share of a step on more GPUs has no bound of its own.
StepLimit UncutStep::lower_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device) {
  const int most = layout_on(simulator.scenario(), gpus).gpus();
  const StepSimulator* own = simulator.as_strategy(most);
  return own == nullptr || most > gpus ? StepLimit{} : ReplicatedStep::lower_limit(*own, gpus, device);
}

/// Computes the memory of the strategy on the layout's GPUs and copies it to the point.
void UncutStep::add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy) {
  const LargeModelRun layout = layout_on(scenario, point.gpus);
  const std::optional<Scenario> own = as_strategy(scenario, layout.gpus());
  if (!own) return CutStep::add_memory(point, scenario, strategy);
  PredictionPoint whole = point;
  whole.gpus = layout.gpus();
  whole.batch_per_gpu = layout.micro_batch;
  ReplicatedStep::add_memory(whole, *own, strategy);
  point.memory = whole.memory;
  point.memory_capacity = whole.memory_capacity;
  point.scratch_wanted = whole.scratch_wanted;
  point.largest_batch = whole.largest_batch;
}

/// Names the largest micro-batch that fits, then full recomputation, then cutting the network.
std::string UncutStep::memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                     const StrategyMemory& /*strategy*/) {
  if (point.largest_batch >= 1) return fmt::format("parallel.micro_batch = {} fits", point.largest_batch);
  if (layout_of(scenario).recompute != Recompute::full)
    return "not even one sequence fits; parallel.recompute = \"full\" keeps less for backward";
  return "not even one sequence fits; parallel.tensor or parallel.pipeline cuts the network";
}

}  // namespace foretrain
