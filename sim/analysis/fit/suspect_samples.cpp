// Collectives are checked by the rules for rows of a validation, with the fitted value in place of a
// prediction.
#include "sim/analysis/fit/suspect_samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Measured over fitted time of a training step that is suspect.
constexpr double kSlowStep = 1.8;

/// Converts residuals of collectives into series of a validation, by subject and file.
CollectiveValidation validation_of_residuals(const CalibrationFit& fit) {
  CollectiveValidation validation;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const CalibrationFit::Residual& r : fit.residuals) {
    if (r.collective < 0 || r.unit != SampleUnit::us || r.measured <= 0 || r.fitted <= 0) continue;
    const auto [it, is_new] = index.try_emplace({r.what, r.source}, validation.series.size());
    if (is_new) {
      ValidatedCollectiveSeries& series = validation.series.emplace_back();
      series.series = fmt::format("{}, {}", r.what, r.source), series.op = r.what;
    }
    ValidatedCollective& p = validation.series[it->second].points.emplace_back();
    p.bytes = std::llround(r.bytes), p.measured = r.measured, p.predicted = r.fitted;
  }
  for (ValidatedCollectiveSeries& series : validation.series)
    std::ranges::stable_sort(series.points, {}, &ValidatedCollective::bytes);
  return validation;
}

/// Returns measured over fitted time of a training step; 0 for other samples.
double slowness_of_step(const CalibrationFit::Residual& r) {
  if (!r.what.starts_with("training step") || r.measured <= 0 || r.fitted <= 0) return 0;
  return r.unit == SampleUnit::us ? r.measured / r.fitted : r.fitted / r.measured;
}

}  // namespace

std::vector<SuspectSeries> suspect_series(const CalibrationFit& fit) {
  std::vector<SuspectSeries> found = suspect_series(validation_of_residuals(fit));
  for (const CalibrationFit::Residual& r : fit.residuals) {
    const double times = slowness_of_step(r);
    if (times < kSlowStep) continue;
    found.push_back(
        {fmt::format("{}, {}:{}", r.what, r.source, r.line),
         fmt::format(
             "takes {:.1f} times as long as its kernels and the measured collectives of this machine need: "
             "its network, loader or settings were others",
             times)});
  }
  return found;
}

}  // namespace foretrain
