// Warns of what a job script will do that its writer may not have intended, although it is correct.
#pragma once

#include "sim/import/job_checks.hpp"

namespace foretrain {

/// Returns the warnings of `job check`. They are about too few CPUs, a batch that grows with the GPUs while
/// steps are compared, loader workers in a container with the default /dev/shm, and pods that NCCL takes for
/// nodes.
/// `gpus_of_node` is the number of GPUs of the cluster's nodes, 0 when unknown.
std::vector<Diagnostic> lint_job(const JobScript& script, const SourceText& source, int gpus_of_node = 0);

/// Returns only the warning about CPUs.
std::vector<Diagnostic> lint_job_cpus(const JobScript& script, const SourceText& source);

}  // namespace foretrain
