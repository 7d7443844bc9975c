// Seconds of a run outside its training steps. Each is stated in the scenario or computed from it, and every
// rank waits while it happens.
#include <cmath>

#include "sim/analysis/step/epoch.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

// The constants are seconds on the reference CPU (docs/models/step.md) unless stated otherwise; the profile
// of a framework adds its own.

/// Context, cuBLAS and cuDNN handles, and kernels loaded on first use.
constexpr double kCuda = 0.8;
/// Elements of weights that are drawn and copied to the GPU in a second.
constexpr double kWeightsPerSecond = 1e8;
/// Rendezvous and first connection, and each further rank.
constexpr double kNccl = 0.5, kNcclPerGpu = 2e-3;
/// cuDNN's benchmark of a convolution: some algorithms in three directions.
constexpr double kFirstPerConvolution = 15e-3;
/// Compilation of an operator by torch.compile or XLA.
constexpr double kCompilePerOperator = 80e-3;

/// Returns the extra time of the first step: the framework's own, cuDNN's search for algorithms, tracing and
/// compiling.
double first_step_s(const Workload& workload) {
  const ExpandedModel& model = *workload.model;
  double convolutions = 0;
  for (const Operator& op : model.forward)
    convolutions += op.cls == OperatorClass::conv || op.cls == OperatorClass::depthwise_conv ? 1 : 0;
  const auto operators = static_cast<double>(model.forward.size() + model.backward.size());
  const FrameworkProfile& profile = profile_of(workload.framework);
  double seconds = profile.first_step_s + kFirstPerConvolution * convolutions;
  seconds += profile.traced_operator_s * operators;
  if (workload.framework.execution == Execution::compiled) seconds += kCompilePerOperator * operators;
  return seconds;
}

/// Returns how many Python processes import the framework one after the other before training starts: the
/// launcher's own, then the trainer's.
int imports_in_a_row(const std::optional<Launcher>& launcher) {
  if (!launcher) return 1;
  switch (*launcher) {
    // torchrun's agent imports the framework; with mp.spawn the script does, and each child does so anew.
    case Launcher::torchrun:
    case Launcher::mp_spawn:
      return 2;
    // The command imports the framework, its launcher on the node does, and then the trainer.
    case Launcher::deepspeed:
      return 3;
    // These launchers need no framework themselves.
    case Launcher::srun:
    case Launcher::mpirun:
    case Launcher::horovodrun:
    case Launcher::python:
      break;
  }
  return 1;
}

/// Returns how often periodic work happens in the whole run.
double count_of(const Scenario& scenario, const Periodic& work) {
  return std::floor(scenario.epochs / work.every_epochs);
}

/// Returns the seconds of one validation pass, which starts its own workers and divides its samples among
/// ranks.
double pass_s(const StepSimulator& simulator, const DeviceModel& device, int gpus, const Periodic& work) {
  const Scenario& scenario = simulator.scenario();
  const std::int64_t batch = work.batch_per_gpu > 0 ? work.batch_per_gpu : simulator.batch_per_gpu(gpus);
  const int shares = shares_of_data(scenario, gpus);
  const std::int64_t per_rank = (work.samples + shares - 1) / shares;
  const std::int64_t batches = (per_rank + batch - 1) / batch;
  Workload workload = scenario.workload;
  workload.batch_per_gpu = std::min(batch, per_rank);
  return loader_restart_s(workload, first_node(scenario)) +
         static_cast<double>(batches) * simulator.simulate_evaluation(gpus, workload.batch_per_gpu, device);
}

/// Returns the seconds of one occurrence: stated, simulated as a pass, or the bytes of a checkpoint at the
/// stated bandwidth.
double once_s(const StepSimulator& simulator, const DeviceModel& device, int gpus, const Periodic& work) {
  if (work.duration) return to_seconds(*work.duration);
  if (work.samples > 0) return pass_s(simulator, device, gpus, work);
  return static_cast<double>(checkpoint_bytes(simulator.scenario().workload).count) /
         work.bandwidth.per_second;
}

/// Returns the field that the work counts in: validation, checkpoint, or other periodic work.
double& account_of(RunOverhead& overhead, const Periodic& work) {
  if (work.samples > 0 || work.name == "validation") return overhead.validation_s;
  if (work.bandwidth.per_second > 0 || work.name == "checkpoint") return overhead.checkpoint_s;
  return overhead.periodic_s;
}

}  // namespace

/// Adds trained weights, the optimizer's state for each trained element, frozen weights and buffers.
Bytes checkpoint_bytes(const Workload& workload) {
  const ExpandedModel& model = *workload.model;
  constexpr std::int64_t kFullBytes = 4;
  // gradient_bytes() counts kFullBytes for each trained element, which is also the size of a saved weight.
  const std::int64_t trained = model.gradient_bytes().count;
  Bytes bytes{trained + trained / kFullBytes * state_bytes_per_element(workload.optimizer) +
              model.frozen_bytes()};
  for (const Buffer& buffer : model.buffers) bytes += Bytes{buffer.elements * buffer.element_bytes};
  return bytes;
}

Startup usual_startup(const Scenario& scenario, int gpus) {
  const Workload& workload = scenario.workload;
  const double slowdown = first_node(scenario).host.slowdown;
  Startup startup;
  startup.imports_s =
      imports_in_a_row(scenario.launch.with) * slowdown * profile_of(workload.framework).import_s;
  startup.cuda_s = slowdown * kCuda;
  startup.weights_s =
      slowdown * static_cast<double>(workload.model->parameter_elements()) / kWeightsPerSecond;
  const int working = working_gpus(scenario, gpus).size();
  startup.nccl_s = working > 1 ? slowdown * kNccl + kNcclPerGpu * working : 0;
  startup.first_step_s = slowdown * first_step_s(workload);
  return startup;
}

RunOverhead run_overhead(const StepSimulator& simulator, const DeviceModel& device, int gpus,
                         double restart_s) {
  const Scenario& scenario = simulator.scenario();
  RunOverhead overhead;
  overhead.startup_s =
      scenario.startup ? to_seconds(*scenario.startup) : usual_startup(scenario, gpus).total_s();
  overhead.loader_restart_s = scenario.epochs * restart_s;
  for (const Periodic& work : scenario.periodic) {
    const double times = count_of(scenario, work);
    if (times > 0) account_of(overhead, work) += times * once_s(simulator, device, gpus, work);
  }
  return overhead;
}

}  // namespace foretrain
