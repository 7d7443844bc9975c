// What evidence did to a prediction: its correction, the rows behind it, and what was simulated.
#pragma once

#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/step/step_correction.hpp"

namespace foretrain {

/// A point as it was simulated.
struct RawPoint {
  int gpus = 1;
  double step_s = 0;
  Interval interval;
};

struct AppliedEvidence {
  StepCorrection correction;
  Estimate step;   ///< of one GPU; without neighbours: nothing is within reach, or the training is anchored
  Estimate ratio;  ///< of the largest listed number over one GPU
  int gpus = 1;    ///< that number
  /// Part of the uncertainty of the step on one GPU that would be left after one run of it of one's own.
  double after_own_run = 1;
  std::vector<RawPoint> raw;  ///< of the listed numbers
  bool is_applied() const { return !step.neighbours.empty() || !ratio.neighbours.empty(); }
};

}  // namespace foretrain
