// Answers about a job script that is not predicted: the job would not start, or facts are missing.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns the answer for a job that the batch system refuses. The first mistake by line is the verdict, its
/// hint the action. Requires at least one mistake.
Answer would_not_start(const std::vector<Diagnostic>& refused);

/// Returns the answer for a job without a prediction: idle GPUs where it leaves some, else that its duration
/// is unknown. `missing` states what a prediction needs, as in "that takes the network (--model NAME)".
/// `scenario` is null where not even the cluster is known.
Answer answer_without_prediction(const Scenario* scenario, const std::string& missing);

}  // namespace foretrain
