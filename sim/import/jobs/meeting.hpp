// Decides how the processes of a job find each other, and for which jobs no script is written.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// The way in which a process finds the others.
/// nobody: there is only one process. environment: it reads RANK, WORLD_SIZE and MASTER_ADDR, as PyTorch's
/// env:// does. horovod: horovodrun or MPI tells it. tensorflow: it reads TF_CONFIG or Slurm's variables.
/// servers: it needs addresses of processes that only serve, which the program itself has to start.
enum class Meeting : std::uint8_t { nobody, environment, horovod, tensorflow, servers };

/// Returns the way of the plan's strategy. Layouts of large models, which the catalog of strategies lacks,
/// read the environment.
Meeting meeting_of(const JobPlan& plan);

/// The reason why no script is written, as a sentence, and what to do instead.
struct ScriptRefusal {
  /// The sentence; empty when a script is written.
  std::string why;
  std::string hint;
};

/// Returns why no script of the system can start the plan's processes as one training.
ScriptRefusal why_not_written(const JobPlan& plan, BatchSystem system);

/// Returns the script that the system's row writes. Throws InputError with the reason where none is written.
std::string write_job_script(const JobPlan& plan, const JobSystem& system);

/// Returns the plan for a system without srun: another launcher takes its place.
JobPlan without_srun(JobPlan plan);

}  // namespace foretrain
