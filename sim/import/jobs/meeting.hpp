// How the processes of a job find each other, and which jobs no script is written for.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// What a process of the job reads to find the others. nobody: there is one process. environment: RANK,
/// WORLD_SIZE and MASTER_ADDR, as PyTorch's env:// does. horovod: what horovodrun or MPI sets. tensorflow:
/// TF_CONFIG, or Slurm's variables. servers: addresses of processes that only serve, which the program itself
/// has to start.
enum class Meeting : std::uint8_t { nobody, environment, horovod, tensorflow, servers };

/// By the plan's strategy; layouts of large models, which no catalog lists, read the environment.
Meeting meeting_of(const JobPlan& plan);

/// Why there is no script, as a sentence, and what to do instead.
struct ScriptRefusal {
  std::string why;  ///< empty: there is one
  std::string hint;
};

/// Why no script of the system starts the plan's processes as one training.
ScriptRefusal why_not_written(const JobPlan& plan, BatchSystem system);

/// What the system's row writes. Throws InputError where it is not written, with the reason.
std::string write_job_script(const JobPlan& plan, const JobSystem& system);

/// The same plan where no srun is: another launcher takes its place.
JobPlan without_srun(JobPlan plan);

}  // namespace foretrain
