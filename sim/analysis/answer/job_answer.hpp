// Answers about a job script that is not predicted: it would not start, or its figures need more.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Requires a mistake that the batch system refuses; the first is the verdict, its hint the action.
Answer would_not_start(const std::vector<Diagnostic>& refused);

/// Of a job of the scenario's GPUs, whatever it trains: idle GPUs where it leaves some, else that nobody can
/// say how long it takes. `missing`: what a prediction lacks, as in "that takes the network (--model NAME)".
/// `scenario`: null where not even the cluster is known.
Answer answer_without_prediction(const Scenario* scenario, const std::string& missing);

}  // namespace foretrain
