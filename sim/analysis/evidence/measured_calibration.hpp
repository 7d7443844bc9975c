// The calibration of a model to measured runs. A scenario's own [measured] run and runs of the very training
// in evidence stores go the same way; runs that only resemble the training correct what they leave open.
#pragma once

#include <optional>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"

namespace foretrain {

/// The measurement that a prediction is calibrated to: the user's own [measured], or runs from a store.
struct MeasuredCalibration {
  /// The measured step that the model repeats.
  std::optional<Anchor> anchor;
  /// The effect of that step on the model.
  std::optional<Anchored> anchored;
  /// Present with a field of residuals.
  std::optional<AppliedEvidence> evidence;
  /// Returns true if runs of a store, not the scenario's [measured], calibrate the model.
  bool is_by_evidence() const { return evidence && evidence->calibrated_on > 0; }
};

/// Sets the predictor's device model and correction; must be called before it simulates anything. [measured]
/// comes first, then runs of the very training on one GPU or else on the fewest, then runs that resemble it.
/// `most_gpus` is the largest number that the predictor can be asked for. Throws InputError when the
/// scenario's own measured step cannot be reached; a step of a store that cannot be reached has no effect.
MeasuredCalibration calibrate_to_measured(PointPredictor& points, int most_gpus, const EvidenceUse& use);

/// Returns the intervals of a predictor that was calibrated so.
Intervals intervals_of(PointPredictor& points, const MeasuredCalibration& calibration);

}  // namespace foretrain
