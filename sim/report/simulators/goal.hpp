// Planned steps in GOAL, the text that LogGOPSim's schedule compiler reads (docs/models/export.md).
#pragma once

#include <string>

#include "sim/report/simulators/exported_steps.hpp"

namespace foretrain {

/// Most operations of all ranks together: some hundred megabytes of text.
inline constexpr std::size_t kMostGoalOperations = 8'000'000;

/// All ranks; durations in nanoseconds, sizes in bytes. Collectives are the sends and receives of a ring, or
/// of two binary trees where NCCL takes them. Throws InputError beyond kMostGoalOperations.
std::string write_goal(const ExportedSteps& steps);

}  // namespace foretrain
