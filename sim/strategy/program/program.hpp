// Strategy `program`: replays a recorded program of a distributed training step on another machine.
#pragma once

#include <memory>

#include "sim/strategy/strategy.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

/// The program to replay; without one the strategy cannot run.
struct ProgramOptions {
  std::shared_ptr<const ProgramReplays> replays{};
};

/// Plans the recorded program on the request's ranks. Every kind of rank has a process, and all processes
/// share one clock: sends end where another kind receives, and a collective begins when every kind in its
/// group has reached it. The steps of the kind with most kernel time become the steps of the plan. Throws
/// InputError if there is no program for as many ranks as the placement has, or if the ranks deadlock.
Plan plan_program(const PlanRequest& request);
/// Returns the catalog row of `program`.
StrategyEntry program_strategy();

}  // namespace foretrain
