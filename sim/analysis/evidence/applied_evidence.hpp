// The effect of evidence on a prediction: its correction, the rows behind it, and the simulated values.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/step/step_correction.hpp"

namespace foretrain {

/// A point as simulated, before the correction.
struct RawPoint {
  int gpus = 1;
  double step_s = 0;
  Interval interval;
};

/// Short runs of a training, and the uncertainty of its largest step that would remain once they are the
/// user's own rows.
struct RunsToMake {
  /// A run on one GPU, one on one GPU with one on several, or one on several alone.
  std::vector<Observation> runs;
  /// Remaining share of the uncertainty; 1 if nothing changes.
  double left = 1;
};

/// Measured runs of the very training on one number of GPUs.
struct MeasuredRuns {
  /// Name of the cluster.
  std::string where;
  /// Name of who measured them.
  std::string source;
  int runs = 0;
  int gpus = 1;
  /// Seconds of the shortest and the longest step.
  double low_s = 0, high_s = 0;
};

/// Reach of the next run on some number of GPUs around the measured ones: with a probability of 90 % it lies
/// within the reach in either direction, as logarithms. `step` is about its step, `ratio` about its ratio to
/// the step that the model is calibrated to.
struct KnownReach {
  int gpus = 1;
  double step = 0, ratio = 0;
};

/// The effect of measured runs on a prediction: the correction of the step and the certainty that it gains.
struct AppliedEvidence {
  StepCorrection correction;
  /// Estimate of the step on one GPU, or of that on `calibrated_on` by runs of the very training. It has no
  /// neighbours where nothing is within reach or the scenario is [measured].
  Estimate step;
  /// Estimate of the ratio of the largest listed number to one GPU.
  Estimate ratio;
  /// GPUs of the very training's runs that the model repeats; 0 if there are none.
  int calibrated_on = 0;
  /// Numbers of GPUs with such runs, the smallest first.
  std::vector<KnownReach> known;
  /// These runs, on `calibrated_on` and on listed numbers.
  std::vector<MeasuredRuns> measured;
  /// The largest listed number of GPUs.
  int gpus = 1;
  /// Runs that leave least uncertainty first; when asked for.
  std::vector<RunsToMake> runs;
  /// Simulated points of the listed numbers.
  std::vector<RawPoint> raw;
  /// Returns the reach on a number of GPUs; null if no run of the very training has as many.
  const KnownReach* known_on(int number) const {
    const auto found = std::ranges::find(known, number, &KnownReach::gpus);
    return found == known.end() ? nullptr : &*found;
  }
  bool is_applied() const { return !step.neighbours.empty() || !ratio.neighbours.empty(); }
};

}  // namespace foretrain
