// What evidence did to a prediction: its correction, the rows behind it, and what was simulated.
#pragma once

#include <algorithm>
#include <string>
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

/// Measured runs of the very training on one number of GPUs.
struct MeasuredRuns {
  std::string where;   ///< the cluster
  std::string source;  ///< who measured them, as a person calls it
  int runs = 0;
  int gpus = 1;
  double low_s = 0, high_s = 0;  ///< shortest and longest step
};

/// How far the next run on so many GPUs may be from the measured ones with a probability of 90 %, either way,
/// as logarithms: its step, and its ratio to the step that the model is calibrated to.
struct KnownReach {
  int gpus = 1;
  double step = 0, ratio = 0;
};

/// What measured runs near a scenario changed in its prediction: the correction of the step, and how certain
/// it became.
struct AppliedEvidence {
  StepCorrection correction;
  /// Of the step of one GPU, or by runs of the very training of that on `calibrated_on`; without neighbours:
  /// nothing is within reach, or the scenario is [measured].
  Estimate step;
  Estimate ratio;         ///< of the largest listed number over one GPU
  int calibrated_on = 0;  ///< GPUs of the very training's runs that the model repeats; 0: there are none
  std::vector<KnownReach> known;       ///< numbers of GPUs with such runs, the smallest first
  std::vector<MeasuredRuns> measured;  ///< these runs, of `calibrated_on` and listed numbers
  int gpus = 1;                        ///< that number
  std::vector<RunsToMake> runs;        ///< those that leave least first; when asked for
  std::vector<RawPoint> raw;           ///< of the listed numbers
  /// Null: no run of the very training is on so many.
  const KnownReach* known_on(int number) const {
    const auto found = std::ranges::find(known, number, &KnownReach::gpus);
    return found == known.end() ? nullptr : &*found;
  }
  bool is_applied() const { return !step.neighbours.empty() || !ratio.neighbours.empty(); }
};

}  // namespace foretrain
