// Rows of evidence that another version of the program predicted, predicted by this one, from the inputs that
// their store keeps.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/observation.hpp"

namespace foretrain {

/// Stored runs with what this version of the program predicts for them, and the runs that it cannot predict.
struct PredictedAgain {
  std::vector<Observation> rows;
  std::vector<std::string> problems;  ///< of inputs that cannot be predicted, in a sentence each
};

/// Predicts those of `inputs` that `stale` rows come from, and returns what takes the place of these rows.
/// The first call of a version does so; others read what that one left in the user's cache
/// ($XDG_CACHE_HOME/foretrain). Rows whose run has no input get no row. Inputs that cannot be predicted are
/// problems and no errors.
PredictedAgain predict_again(const std::vector<Observation>& stale, const std::vector<EvidenceInput>& inputs);

}  // namespace foretrain
