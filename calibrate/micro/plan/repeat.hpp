// How often a point is measured: warm-up until it stops getting faster, then until the median is sure enough
// or the time is up.
#pragma once

#include <functional>

#include "calibrate/micro/plan/statistics.hpp"

namespace foretrain::micro {

/// Seconds since any fixed moment.
using Clock = std::function<double()>;
Clock steady_clock();

struct RepeatRule {
  double seconds = 0.3;  ///< of the whole point, warm-up included; exceeded only to reach `fewest`
  int fewest = 5;
  int most = 200;
  double enough = 0.003;  ///< standard error of the median at which it stops
};

/// Calls `once`, which returns what it measured, and sums up. Throws what `once` throws.
Summary repeat(const std::function<double()>& once, const RepeatRule& rule,
               const Clock& now = steady_clock());

}  // namespace foretrain::micro
