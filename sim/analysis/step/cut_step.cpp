// Steps of cut networks. The layout is simulated by sim/strategy/parallel on the number of GPUs it needs; its
// result is then brought into the fields that every simulated step has, so that reports need no special case.
#include "sim/analysis/step/cut_step.hpp"

#include <fmt/format.h>

#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/parallel_step.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

void lengthen(SimulatedStep& step, double factor) {
  step.step_s *= factor;
  for (double& account : step.breakdown) account *= factor;
  for (double& account : step.critical) account *= factor;
  for (double& wait : step.waits) wait *= factor;
  for (StepPart& part : step.parts) part.seconds *= factor;
}

/// Simulates the layout on at least the fewest GPUs that can run it. On fewer GPUs the step is longer in
/// proportion, as if they did the same work one after the other.
SimulatedStep CutStep::simulate(const StepSimulator& simulator, int gpus, std::int64_t /*batch_per_gpu*/,
                                const DeviceModel& device, Reading reading) {
  const LargeModelRun job = layout_on(simulator.scenario(), gpus);
  const Placement ranks = simulator.placement(job.gpus());
  const Cluster& cluster = simulator.cluster();
  const LargeStep step = simulate_large_step({job, cluster, ranks, device, simulator.scenario().collective,
                                              simulator.collectives(), reading != Reading::time});
  refuse_endless_step(step.step_s);
  const NodeSpec& node = cluster.node_spec(ranks.ranks.front().node);
  SimulatedStep out = as_simulated(step, node, reading);
  if (reading != Reading::time) out.large = large_point(job, step, node.gpu);
  if (gpus < job.gpus()) lengthen(out, static_cast<double>(job.gpus()) / gpus);
  return out;
}

/// A validation pass has forward passes alone, and backward costs about twice a forward pass.
double CutStep::evaluate(const StepSimulator& simulator, int gpus, std::int64_t /*batch_per_gpu*/,
                         const DeviceModel& device) {
  constexpr double kForwardShare = 1.0 / 3;
  return kForwardShare * simulator.step_s(gpus, device);
}

/// Returns the stages of one step; there are no recordings of single ranks.
StepRecording CutStep::record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                              RecordingSize /*size*/) {
  const LargeModelRun job = layout_on(simulator.scenario(), gpus);
  const Placement ranks = simulator.placement(job.gpus());
  return {{},
          record_large_step({job, simulator.cluster(), ranks, device, simulator.scenario().collective,
                             simulator.collectives(), false})};
}

/// Takes the fullest stage of the pipeline, because it decides whether the training fits.
void CutStep::add_memory(PredictionPoint& point, const Scenario& scenario,
                         const StrategyMemory& /*strategy*/) {
  const LargeModelRun job = layout_on(scenario, point.gpus);
  point.memory = memory_of(job), point.memory_capacity = gpu_of(point, scenario).capacity();
  point.largest_batch = largest_micro_batch(layout_of(scenario), job.gpus(), point.memory_capacity);
}

std::string CutStep::why_not(const Scenario& scenario, int gpus) {
  if (std::string why = why_not_together(scenario, gpus); !why.empty()) return why;
  if (const int fewest = fewest_gpus_of(scenario); gpus < fewest) return fmt::format("needs {} GPUs", fewest);
  const std::vector<JobFault> faults = faults_of(job_on(layout_of(scenario), gpus), gpus);
  return faults.empty() ? std::string() : faults.front().message;
}

}  // namespace foretrain
