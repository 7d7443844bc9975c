// A JobPlan is what to ask of a batch system: the resources of a job, and how its processes are started.
#pragma once

#include <string>

#include "sim/base/units.hpp"
#include "sim/cluster/site.hpp"
#include "sim/scenario/launch.hpp"

namespace foretrain {

/// The facts that a job script for one training run needs.
struct JobPlan {
  /// Name of the job: letters, digits, '-', '_' and '.'.
  std::string name;
  /// Names for the heading of the script.
  std::string model, cluster, strategy;
  BatchSystem system = BatchSystem::slurm;
  /// Partition or queue; empty for the batch system's default.
  std::string partition;
  /// Type of GPU in requests, as Site::gpu_type.
  std::string gpu_type;
  /// Feature of nodes to ask for; empty for none.
  std::string constraint;
  /// Expression of HTCondor that selects the GPUs, as Site::requirements.
  std::string requirements;
  int nodes = 1, gpus_per_node = 1;
  /// Processes that train on each node. The GPUs of a node are shared out evenly among them.
  int processes_per_node = 1;
  /// CPU cores that the job gets on each node.
  int cores_per_node = 1;
  /// Host memory of each node; 0 for the batch system's default.
  Bytes memory_per_node{};
  /// Time limit in seconds; 0 for the batch system's default.
  double time_limit_s = 0;
  Launcher launcher = Launcher::torchrun;
  /// Worker processes of the data loader for each GPU.
  int workers_per_gpu = 0;
  /// Samples of one GPU in a micro-step.
  std::int64_t batch_per_gpu = 0;
  /// Micro-steps in each optimizer step.
  int accumulation = 1;
  /// Samples of all GPUs in an optimizer step, and epochs to train.
  std::int64_t global_batch = 0;
  double epochs = 1;
  /// Program with its options. If it is empty, a placeholder train.py is written with the batch and epochs.
  std::string program{};
  /// Lines before the launch line, each with its line end.
  std::string before{};
  /// Name of a framework whose program is not known here; empty when the program is known.
  std::string unknown_program{};
};

/// Says whether the batch system starts a task for each process. The other launchers are started once on each
/// node, or once in the job.
inline bool is_task_per_process(Launcher launcher) {
  return launcher == Launcher::srun || launcher == Launcher::mpirun || launcher == Launcher::horovodrun;
}
/// Returns the tasks that the batch system starts on each node.
inline int tasks_per_node(const JobPlan& plan) {
  return is_task_per_process(plan.launcher) ? plan.processes_per_node : 1;
}

}  // namespace foretrain
