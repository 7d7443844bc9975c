// The job systems whose requests are read and written, one row for each.
// A new system is a file with its functions, a declaration here and a row in catalog.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/import/job_script.hpp"
#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// Words of a batch system that written scripts use; see job_text.hpp.
struct ScriptWords;

/// A batch system: how its scripts are recognised, read and written.
struct JobSystem {
  BatchSystem system = BatchSystem::none;
  /// Name that people use, such as "Grid Engine".
  std::string_view title;
  /// Words for its scripts, such as "a job script of Slurm".
  std::string_view kind;
  /// Line that asks for one GPU, such as "#SBATCH --gres=gpu:1".
  std::string_view asks_as;
  /// Command that starts another one on every node of a job; empty when there is none.
  std::string_view starter;
  /// Says whether a text is a request to this system, by its content. It does not prove that it can be read.
  bool (*is)(std::string_view text) = nullptr;
  /// Reads a text into `script`, whose file and system are set. `text` is the source's text without a
  /// byte-order mark, and `find` finds scripts beside it.
  /// What cannot be read goes to script.not_understood. Only the reader of Kubernetes throws InputError, for
  /// text that is no YAML or holds no object that it knows.
  void (*read)(const SourceText& source, std::string_view text, const ScriptFinder& find,
               JobScript& script) = nullptr;
  /// Writes a script that `read` reads back; nullptr for systems that are not written. Call it through
  /// write_job_script(), which refuses what would not be one training.
  std::string (*write)(const JobPlan& plan) = nullptr;
  /// Names inside its scripts; nullptr where pods or submit files start the processes of one machine.
  const ScriptWords* words = nullptr;
};

/// Returns all systems in the order in which a text is tried; the first whose `is` returns true reads it.
std::span<const JobSystem> job_systems();

/// Returns the row of a system. BatchSystem::none is the row of a bare launch line.
const JobSystem& job_system(BatchSystem system);

/// These functions return the row of one system each and stand in the file of that name.
JobSystem slurm_system();
JobSystem pbs_system();
JobSystem lsf_system();
JobSystem grid_engine_system();
JobSystem flux_system();
JobSystem kubernetes_system();
JobSystem condor_system();
/// Row of a launch line such as torchrun, without a script and a batch system.
JobSystem launch_line_system();

/// Reads a body of shell commands and stores the launch of the training in script.launch. `values` holds the
/// variables that the batch system sets; GPUs, nodes and tasks of script.resources are added.
/// An array whose parenthesis never closes is reported, because all that follows is taken for its elements.
void read_script_body(std::string_view text, int first_line, ShellValues& values, const ScriptFinder& find,
                      JobScript& script);

}  // namespace foretrain
