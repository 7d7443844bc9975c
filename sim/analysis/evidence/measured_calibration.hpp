// From measured runs to a calibrated model: a scenario's own [measured] run and runs of the very training in
// stores of evidence go the same way, and what is only like the training corrects what they leave open.
#pragma once

#include <optional>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"

namespace foretrain {

/// The measurement that a prediction is calibrated to: the user's own [measured], or runs from a store of
/// evidence.
struct MeasuredCalibration {
  std::optional<Anchor> anchor;             ///< the measured step that the model repeats
  std::optional<Anchored> anchored;         ///< what that did to the model
  std::optional<AppliedEvidence> evidence;  ///< with a field
  bool is_by_evidence() const { return evidence && evidence->calibrated_on > 0; }
};

/// Sets the predictor's device model and correction, before it has simulated anything. [measured] comes
/// first, then runs of the very training on one GPU or else on the fewest, then what is like it. `most_gpus`:
/// the most that the predictor can be asked for. Throws InputError when the scenario's own measured step
/// cannot be reached; one of evidence that cannot has no effect.
MeasuredCalibration calibrate_to_measured(PointPredictor& points, int most_gpus, const EvidenceUse& use);

/// Of a predictor that was calibrated so.
Intervals intervals_of(PointPredictor& points, const MeasuredCalibration& calibration);

}  // namespace foretrain
