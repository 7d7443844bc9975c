// A step by kind of work, in words; comparisons of strategies are built from these parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Seconds of a step that the compute stream spent in work of one kind, or waiting for it.
struct StepPart {
  std::string name;
  double seconds = 0;
};

/// Names of the parts in which ranks wait that finish before others.
inline constexpr std::string_view kWaitForNodes = "waits for the slower nodes",
                                  kWaitForGpus = "waits for the slower GPUs",
                                  kWaitForBatches = "waits for the larger batches";

/// Returns the mean over `steps` steps of what a stream did (queue_path), by the labels of tasks without
/// their numbers ("all_reduce bucket"). The network's layers are one part, and so is host work without a
/// label. Largest first; the parts sum to the step.
std::vector<StepPart> step_parts(const TaskGraph& graph, const std::vector<PathPiece>& path,
                                 const std::vector<std::string>& layers, int steps);

/// Returns the difference of two steps by name of part: seconds of `parts` minus seconds of `others`, ordered
/// by descending absolute value. Differences below the shortest time are dropped.
std::vector<StepPart> difference(const std::vector<StepPart>& parts, const std::vector<StepPart>& others);

}  // namespace foretrain
