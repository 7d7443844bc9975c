// What a job script will do that its writer may not have thought of, beside what is wrong with it.
#pragma once

#include "sim/import/job_checks.hpp"

namespace foretrain {

/// Warnings for `job check` alone: CPUs that nobody asked for, a batch that grows with the GPUs while steps
/// are compared, loader workers in a container whose /dev/shm nobody enlarged, pods that NCCL takes for
/// nodes. `gpus_of_node` are those of the cluster's nodes; 0: not known.
std::vector<Diagnostic> lint_job(const JobScript& script, const SourceText& source, int gpus_of_node = 0);

/// Of these only what is about its CPUs.
std::vector<Diagnostic> lint_job_cpus(const JobScript& script, const SourceText& source);

}  // namespace foretrain
