// The figures of a point that are known: the one record that tables, CSV, JSON, pages and databases are
// written from.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/analysis/step/prediction_point.hpp"

namespace foretrain {

/// Figures that a point may lack. A writer shows what is not here as "-", an empty field, null or NULL, and
/// never reads these figures from the point itself, where they have some value in any case.
struct KnownFigures {
  std::optional<std::int64_t> steps_per_epoch;  ///< known with data.samples
  std::optional<double> epoch_s, gpu_hours;     ///< known where an epoch has a step
  std::optional<double> total_s;                ///< the same
  std::optional<double> speedup, efficiency;    ///< of what fits into memory
  std::optional<Interval> interval;             ///< of the step of what fits, once it was computed
  std::optional<Interval> epoch_interval, total_interval;
  std::optional<Range> speedup_range;
  std::optional<double> chance_of_gain;
};

/// What the point lacks: without data.samples an epoch, without the memory a speedup and its range, where
/// nobody computed intervals those.
KnownFigures known_figures(const PredictionPoint& point);

}  // namespace foretrain
