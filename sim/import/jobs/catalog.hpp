// The job systems whose requests are read and written: one row each. A new one is a file with its functions,
// and its row here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/import/job_script.hpp"
#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

struct ScriptWords;

/// A batch system: how its scripts are recognised, read and written.
struct JobSystem {
  BatchSystem system = BatchSystem::none;
  std::string_view title;    ///< as people call it
  std::string_view kind;     ///< "a job script of Slurm"
  std::string_view asks_as;  ///< how it asks for a GPU, as in "#SBATCH --gres=gpu:1"
  std::string_view starter;  ///< what starts a command on every node of a job; empty: nothing there does
  /// Whether a text is for it, by its content.
  bool (*is)(std::string_view text) = nullptr;
  /// Reads it into `script`, whose file and system are set.
  void (*read)(const SourceText& source, std::string_view text, const ScriptFinder& find,
               JobScript& script) = nullptr;
  /// What `read` reads back; nullptr: it is not written. To be called through write_job_script().
  std::string (*write)(const JobPlan& plan) = nullptr;
  const ScriptWords* words = nullptr;  ///< inside its scripts; nullptr: they start one machine's processes
};

/// In the order in which texts are held against them: the first whose `is` says yes reads a text.
std::span<const JobSystem> job_systems();

/// The row of a system; of a bare launch line for BatchSystem::none.
const JobSystem& job_system(BatchSystem system);

JobSystem slurm_system();
JobSystem pbs_system();
JobSystem lsf_system();
JobSystem grid_engine_system();
JobSystem flux_system();
JobSystem kubernetes_system();
JobSystem condor_system();
JobSystem launch_line_system();  ///< torchrun … without a script

/// A body of commands with what the batch system sets: into script.launch. `values` are its variables.
void read_script_body(std::string_view text, int first_line, ShellValues& values, const ScriptFinder& find,
                      JobScript& script);

}  // namespace foretrain
