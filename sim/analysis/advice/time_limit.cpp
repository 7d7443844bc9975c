// A run is in time if the upper end of its interval is within the limit.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

namespace {

/// Returns hours, minutes and seconds as batch systems write them: "12:05:00".
std::string clock(double value) {
  const auto all = static_cast<long long>(std::min(value, 1e15));
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

}  // namespace

double latest_end_s(const PredictionPoint& point) {
  return std::max(point.total_s, point.total_interval.high_s);
}

std::string time_limit_warning(std::int64_t limit_s, int gpus, const Prediction& prediction) {
  if (limit_s <= 0 || prediction.samples == 0) return {};
  const auto point = std::find_if(prediction.points.begin(), prediction.points.end(),
                                  [gpus](const PredictionPoint& row) { return row.gpus == gpus; });
  if (point == prediction.points.end() || latest_end_s(*point) <= static_cast<double>(limit_s)) return {};
  // The median decides between "is" and "may be" too short.
  const bool surely = point->total_s > static_cast<double>(limit_s);
  return fmt::format("a time limit of {} {} too short: the run takes {} on {}, and up to {}",
                     clock(static_cast<double>(limit_s)), surely ? "is" : "may be", clock(point->total_s),
                     counted(gpus, "GPU"), clock(latest_end_s(*point)));
}

}  // namespace foretrain
