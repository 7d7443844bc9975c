// The first calls load kernels and raise clocks, so they get faster; once a call is no longer 5 % faster than
// the best, the rest count.
#include "calibrate/micro/plan/repeat.hpp"

#include <algorithm>
#include <chrono>

namespace foretrain::micro {

namespace {

constexpr int kMostWarmUps = 20;
constexpr double kFaster = 0.95, kWarmUpShare = 0.3;

void warm_up(const std::function<double()>& once, double until, const Clock& now) {
  double best = once();
  for (int i = 1; i < kMostWarmUps && now() < until; ++i) {
    const double value = once();
    if (value > kFaster * best) return;
    best = std::min(best, value);
  }
}

}  // namespace

Clock steady_clock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

Summary repeat(const std::function<double()>& once, const RepeatRule& rule, const Clock& now) {
  const double begin = now();
  warm_up(once, begin + kWarmUpShare * rule.seconds, now);
  std::vector<double> values;
  Summary summary;
  while (static_cast<int>(values.size()) < rule.most) {
    values.push_back(once());
    if (static_cast<int>(values.size()) < rule.fewest) continue;
    summary = summarize(values);
    if (now() - begin >= rule.seconds || median_error(summary) < rule.enough) break;
  }
  return summarize(values);
}

}  // namespace foretrain::micro
