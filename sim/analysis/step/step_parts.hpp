// A step by the kind of work in it, in words: what comparisons of strategies are made of.
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

/// What ranks do that are ready before others.
inline constexpr std::string_view kWaitForNodes = "waits for the slower nodes",
                                  kWaitForGpus = "waits for the slower GPUs",
                                  kWaitForBatches = "waits for the larger batches";

/// What a stream did in `steps` steps (queue_path), in the mean of them: by the labels of the tasks, without
/// their numbers ("all_reduce bucket"); the network's layers are one part, and so is host work without a
/// label. Largest first; sums to the step.
std::vector<StepPart> step_parts(const TaskGraph& graph, const std::vector<PathPiece>& path,
                                 const std::vector<std::string>& layers, int steps);

/// How `parts` differ from `others`: named parts of either, seconds of `parts` minus seconds of `others`,
/// largest difference first whatever its sign.
std::vector<StepPart> difference(const std::vector<StepPart>& parts, const std::vector<StepPart>& others);

}  // namespace foretrain
