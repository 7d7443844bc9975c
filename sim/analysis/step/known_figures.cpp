// A training that does not fit cannot run, so it has no speedup. A data set of unknown size has no epoch and
// no run.
#include "sim/analysis/step/known_figures.hpp"

namespace foretrain {

KnownFigures known_figures(const PredictionPoint& point) {
  KnownFigures out;
  const bool has_epoch = point.knows_epochs && point.steps_per_epoch > 0;
  if (point.knows_epochs) out.steps_per_epoch = point.steps_per_epoch;
  if (has_epoch) out.epoch_s = point.epoch_s, out.total_s = point.total_s, out.gpu_hours = point.gpu_hours;
  if (!point.fits()) return out;
  out.speedup = point.speedup, out.efficiency = point.efficiency;
  // An upper end of zero means that no interval was computed.
  if (point.interval.high_s <= 0) return out;
  out.interval = point.interval, out.speedup_range = point.speedup_range;
  out.chance_of_gain = point.chance_of_gain;
  if (has_epoch) out.epoch_interval = point.epoch_interval, out.total_interval = point.total_interval;
  return out;
}

}  // namespace foretrain
