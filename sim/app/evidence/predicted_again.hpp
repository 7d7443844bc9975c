// Rows of evidence that another version of foretrain predicted, predicted again from the inputs that their
// store keeps.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/observation.hpp"

namespace foretrain {

/// Stored runs with this version's predictions, and the runs that this version cannot predict.
struct PredictedAgain {
  std::vector<Observation> rows;
  /// A sentence for each run that cannot be predicted.
  std::vector<std::string> problems;
};

/// Predicts the `inputs` that the `stale` rows come from, and returns rows that replace the stale ones. The
/// first call of a version predicts them; later calls read its result from the user's cache
/// ($XDG_CACHE_HOME/foretrain). A stale row without an input gets no replacement. Inputs that cannot be
/// predicted become `problems`, not exceptions.
PredictedAgain predict_again(const std::vector<Observation>& stale, const std::vector<EvidenceInput>& inputs);

}  // namespace foretrain
