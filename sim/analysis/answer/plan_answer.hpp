// The answer to "which layout, on how many GPUs": verdict and cause are those of the layout that is named.
#pragma once

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/planned_counts.hpp"

namespace foretrain {

/// Simulates the step of the named layout again without each of its causes. Intervals of the first layouts
/// are said where they are known (add_intervals()). Requires a plan of this scenario.
Answer answer_of(const Scenario& scenario, const PlannedCounts& plan);

/// The action of a layout that surely fits, before its launch_line().
inline constexpr std::string_view kStartItAs = "Start it as ";

/// How a layout is started with the framework's own options; empty where it has none.
std::string launch_line(const ModelLayout& layout);

}  // namespace foretrain
