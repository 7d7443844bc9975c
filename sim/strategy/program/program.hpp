// Strategy `program`: a recorded program, issued again.
#pragma once

#include <memory>

#include "sim/strategy/strategy.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

/// Which program; none: the strategy cannot run.
struct ProgramOptions {
  std::shared_ptr<const ProgramReplays> replays{};
};

/// Every kind of ranks has a process, and all of them one clock: sends end where another kind receives, a
/// collective begins when every kind in its group has come to it. Requires that there is a program on as many
/// ranks as the placement has.
Plan plan_program(const PlanRequest& request);
StrategyEntry program_strategy();

}  // namespace foretrain
