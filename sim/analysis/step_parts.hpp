// A step by the kind of work in it, in words: what comparisons of strategies are made of.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Seconds of a step that the compute stream spent in work of one kind, or waiting for it.
struct StepPart {
  std::string name;
  double seconds = 0;
};

/// What the stream of `last` did from the end of `before` to the end of `last`, in the mean of `steps` steps: by the labels of the tasks,
/// without their numbers ("all_reduce bucket"); the network's layers are one part, and so is host work without a label. Largest first; sums
/// to the step.
std::vector<StepPart> step_parts(const Plan& plan, const Timeline& timeline, const std::vector<std::string>& layers, TaskId before,
                                 TaskId last, int steps);

/// How `parts` differ from `others`: named parts of either, seconds of `parts` minus seconds of `others`, largest difference first whatever
/// its sign.
std::vector<StepPart> difference(const std::vector<StepPart>& parts, const std::vector<StepPart>& others);

}  // namespace foretrain
