// A program is its own strategy and runs like a replicated one. Only its sizes and its memory come from
// elsewhere: the recording.
#include "sim/analysis/step/program_step.hpp"

#include <algorithm>
#include <bit>

#include "sim/analysis/step/cut_step.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/replicated_step.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/device/framework_memory.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Returns the GPUs that the step is replayed on: the number itself if the recording covers it, else the
/// fewest.
int replayed_on(const Scenario& scenario, int gpus) {
  const bool is_there = scenario.program->facts_on(working_gpu_count(scenario, gpus)).why_not.empty();
  return is_there ? gpus : fewest_gpus_of(scenario);
}

}  // namespace

SimulatedStep ProgramStep::simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                    const DeviceModel& device, Reading reading) {
  const int ranks = replayed_on(simulator.scenario(), gpus);
  SimulatedStep step = ReplicatedStep::simulate(simulator, ranks, batch_per_gpu, device, reading);
  if (gpus < ranks) lengthen(step, static_cast<double>(ranks) / gpus);
  return step;
}

/// A validation pass has forward passes alone, and backward costs about twice a forward pass.
double ProgramStep::evaluate(const StepSimulator& simulator, int gpus, std::int64_t /*batch_per_gpu*/,
                             const DeviceModel& device) {
  constexpr double kForwardShare = 1.0 / 3;
  return kForwardShare * simulator.step_s(gpus, device);
}

bool ProgramStep::may_be_answer(const Scenario& scenario, int gpus) {
  const int fewest = fewest_gpus_of(scenario);
  const bool is_asked = std::ranges::find(scenario.gpus, gpus) != scenario.gpus.end();
  const bool doubles = gpus % fewest == 0 && std::has_single_bit(static_cast<unsigned>(gpus / fewest));
  return (is_asked || doubles) && why_not_together(scenario, gpus).empty();
}

/// Takes the recording's memory by class. The largest batch is the recorded one or none, because another
/// batch would be another program.
void ProgramStep::add_memory(PredictionPoint& point, const Scenario& scenario,
                             const StrategyMemory& /*strategy*/) {
  const ProgramMemory& most = scenario.program->facts_on(replayed_on(scenario, point.gpus)).memory;
  point.memory_capacity = gpu_of(point, scenario).capacity();
  const MemorySite site{{}, working_gpus(scenario, point.gpus).size(), gpu_of(point, scenario).architecture};
  MemoryUse use;
  use.parameters = most.parameters;
  use.gradients = most.gradients;
  use.optimizer = most.optimizer;
  use.buckets = most.communication;
  use.activations = most.activations + most.other;
  // A recording knows no scratch memory of cuDNN's convolutions, and no holes of the allocator.
  use.workspace = convolution_scratch(scenario.workload, use.activations);
  use.framework = framework_bytes(site, use.total() - use.workspace);
  point.memory = use;
  point.largest_batch = use.total() <= point.memory_capacity ? point.batch_per_gpu : 0;
}

std::string ProgramStep::memory_advice(const PredictionPoint& /*point*/, const Scenario& /*scenario*/,
                                       const StrategyMemory& /*strategy*/) {
  return "record the program with a smaller batch, with activation checkpointing or on more ranks";
}

}  // namespace foretrain
