// Writes job scripts for a plan, ready to edit. What only the user knows is marked with <…> and a comment.
#pragma once

#include <string>

#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// Returns a script for sbatch. Tasks and CPUs fit the launcher: one task a node for launchers that start
/// processes themselves, else one for each process.
/// Requires nodes, gpus_per_node, processes_per_node and cores_per_node of at least 1. read_job_script()
/// reads back what it writes.
/// Call this and the writers below through write_job_script(), which refuses what would not be one training.
std::string write_sbatch(const JobPlan& plan);

/// Returns a submit file for condor_submit, whose executable is the launch line itself. HTCondor has no srun,
/// so torchrun takes its place. Requires one node, which why_not_written() checks.
std::string write_condor(const JobPlan& plan);

/// Returns a Kubernetes object. One pod is a Job; several are a PyTorchJob, for Horovod an MPIJob and for
/// TensorFlow a TFJob, whose operators tell the processes where to meet.
std::string write_kubernetes(const JobPlan& plan);

/// Returns one line to type. Under Slurm it asks for the job with srun or salloc; in other systems it is what
/// to start inside of a job.
/// Returns a comment with the reason where no line starts the plan.
std::string interactive_command(const JobPlan& plan);

}  // namespace foretrain
