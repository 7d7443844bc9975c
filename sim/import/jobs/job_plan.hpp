// What to ask of a batch system: the resources of a job and how its processes are started.
#pragma once

#include <string>

#include "sim/base/units.hpp"
#include "sim/cluster/site.hpp"
#include "sim/scenario/launch.hpp"

namespace foretrain {

/// Everything a job script for one training run needs.
struct JobPlan {
  std::string name;  ///< of the job: letters, digits, '-', '_', '.'
  std::string model, cluster, strategy;
  BatchSystem system = BatchSystem::slurm;
  std::string partition;     ///< empty: the batch system's default
  std::string gpu_type;      ///< Site::gpu_type
  std::string constraint;    ///< empty: none
  std::string requirements;  ///< Site::requirements
  int nodes = 1, gpus_per_node = 1;
  int processes_per_node = 1;  ///< that train; GPUs are shared out evenly among them
  int cores_per_node = 1;
  Bytes memory_per_node{};  ///< 0: the batch system's default
  double time_limit_s = 0;  ///< 0: the batch system's default
  Launcher launcher = Launcher::torchrun;
  int workers_per_gpu = 0;         ///< of the data loader
  std::int64_t batch_per_gpu = 0;  ///< of a micro-step
  int accumulation = 1;            ///< micro-steps per step
  std::int64_t global_batch = 0;
  double epochs = 1;
  std::string program{};  ///< what is started, with its options; empty: a training script by name and batch
  std::string before{};   ///< lines in front of the launch line, each with its end
  std::string unknown_program{};  ///< of a framework, whose program nobody knows here; empty: it is known
};

/// Whether the batch system starts a task for each process; the other launchers are started once on each
/// node, or once.
inline bool is_task_per_process(Launcher launcher) {
  return launcher == Launcher::srun || launcher == Launcher::mpirun || launcher == Launcher::horovodrun;
}
inline int tasks_per_node(const JobPlan& plan) {
  return is_task_per_process(plan.launcher) ? plan.processes_per_node : 1;
}

}  // namespace foretrain
