// Writes the layout of a large model as options of the framework that trains it.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/jobs/job_plan.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// A program with its options, and what has to be written before it, such as a part of a configuration file.
struct LargeModelProgram {
  /// Program with its options; empty when the framework's program is not known.
  std::string program;
  /// Lines of a script before the launch, each with its line end.
  std::string before;
  Launcher launcher = Launcher::torchrun;
};

/// Returns the program for a run of that many steps; with 0 the user's own number stays.
/// Megatron-LM gets the network in options; other frameworks have it in a file.
LargeModelProgram large_model_program(const LargeModelRun& job, std::int64_t steps = 0);

/// Puts the program into a plan whose nodes and processes are set. If the framework's program is not known,
/// sets plan.unknown_program.
void set_program(const LargeModelRun& job, std::int64_t steps, JobPlan& plan);

}  // namespace foretrain
