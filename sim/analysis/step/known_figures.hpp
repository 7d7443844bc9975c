// The figures of a point that are known: tables, CSV, JSON, pages and databases are all written from this
// record.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/analysis/step/prediction_point.hpp"

namespace foretrain {

/// Figures that a point may lack. A writer shows an absent figure as "-", an empty field, null or NULL. It
/// never reads these figures from the point itself, where they always have some value.
struct KnownFigures {
  /// Known with data.samples.
  std::optional<std::int64_t> steps_per_epoch;
  /// Known where an epoch has at least one step.
  std::optional<double> epoch_s, gpu_hours;
  /// Known where an epoch has at least one step, too.
  std::optional<double> total_s;
  /// Known for a training that fits into memory; others cannot run.
  std::optional<double> speedup, efficiency;
  /// Interval of the step, known for a training that fits once intervals were computed.
  std::optional<Interval> interval;
  /// The intervals below are known under the same condition; those of epoch and run need an epoch as well.
  std::optional<Interval> epoch_interval, total_interval;
  std::optional<Range> speedup_range;
  std::optional<double> chance_of_gain;
};

/// Returns the point's figures without those that it lacks: epoch and run without data.samples, speedup and
/// its range without enough memory, and intervals where none were computed.
KnownFigures known_figures(const PredictionPoint& point);

}  // namespace foretrain
