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

/// Short runs of a training, and what would be left of the uncertainty of its largest step once they are rows
/// of one's own.
struct RunsToMake {
  std::vector<Observation> runs;  ///< of one GPU, of several over it, or of several alone
  double left = 1;                ///< 1: as it is now
};

struct AppliedEvidence {
  StepCorrection correction;
  Estimate step;   ///< of one GPU; without neighbours: nothing is within reach, or the training is anchored
  Estimate ratio;  ///< of the largest listed number over one GPU
  int gpus = 1;    ///< that number
  std::vector<RunsToMake> runs;  ///< those that leave least first; when asked for
  std::vector<RawPoint> raw;     ///< of the listed numbers
  bool is_applied() const { return !step.neighbours.empty() || !ratio.neighbours.empty(); }
};

}  // namespace foretrain
