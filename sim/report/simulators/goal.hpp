// Planned steps in GOAL, the text that the schedule compiler of LogGOPSim reads (docs/models/networks.md).
#pragma once

#include <string>

#include "sim/report/simulators/exported_steps.hpp"

namespace foretrain {

/// Largest number of operations of all ranks together, which is some hundred megabytes of text.
inline constexpr std::size_t kMostGoalOperations = 8'000'000;

/// Returns the steps of all ranks. Durations are in nanoseconds and sizes in bytes. Collectives become the
/// sends and receives of a ring, or of two binary trees when NCCL uses them. Throws InputError beyond
/// kMostGoalOperations.
std::string write_goal(const ExportedSteps& steps);

}  // namespace foretrain
