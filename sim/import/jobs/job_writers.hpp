// Job scripts for a plan, ready to edit: what nobody but the user knows is marked with <…> and a comment.
#pragma once

#include <string>

#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// A script for sbatch. Tasks and CPUs fit the launcher: one task per node for those that start processes
/// themselves, else one per process. Requires nodes, gpus_per_node, processes_per_node and cores_per_node of
/// at least 1. What it writes, read_job_script() reads back. All of these are called through
/// write_job_script(), which refuses what would not be one training.
std::string write_sbatch(const JobPlan& plan);

/// A submit file for condor_submit, whose executable is the launch line itself. There is no srun: torchrun
/// takes its place. Requires one node, which why_not_written() sees to.
std::string write_condor(const JobPlan& plan);

/// One pod is a Job; several are a PyTorchJob, of Horovod an MPIJob, of TensorFlow a TFJob: their operators
/// tell the processes where to meet.
std::string write_kubernetes(const JobPlan& plan);

/// One line to type: the plan's program under srun or salloc with its resources, in other batch systems what
/// to start inside of a job. A comment with the reason where no line starts it.
std::string interactive_command(const JobPlan& plan);

}  // namespace foretrain
