// A layout of a large model in the options of the framework that trains it.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/jobs/job_plan.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// What is started, how, and what has to be written before: a part of a configuration file.
struct LargeModelProgram {
  std::string program;  ///< with its options; empty: the framework is not known to have any
  std::string before;   ///< lines of a script in front of the launch, each with its end
  Launcher launcher = Launcher::torchrun;
};

/// With so many steps; 0: as the user says. Of the network Megatron-LM's options are written out; others have
/// it in a file.
LargeModelProgram large_model_program(const LargeModelRun& job, std::int64_t steps = 0);

/// Puts it into a plan whose nodes and processes are known.
void set_program(const LargeModelRun& job, std::int64_t steps, JobPlan& plan);

}  // namespace foretrain
