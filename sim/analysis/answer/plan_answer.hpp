// The answer to "which layout, on how many GPUs"; verdict and cause are about the layout that is named.
#pragma once

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/planned_counts.hpp"

namespace foretrain {

/// Returns the answer to a plan of this scenario. The step of the named layout is simulated again without
/// each of its causes. The intervals of layouts are stated where they are known (add_intervals()).
Answer answer_of(const Scenario& scenario, const PlannedCounts& plan);

/// Beginning of the action for a layout that surely fits, before its launch_line().
inline constexpr std::string_view kStartItAs = "Start it as ";

/// Returns the command with the framework's options for a layout; empty where the framework has none.
std::string launch_line(const ModelLayout& layout);

}  // namespace foretrain
