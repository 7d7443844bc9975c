// The criterion by which more GPUs pay: each doubling has to make the run faster by some factor.
#pragma once

#include <cmath>

namespace foretrain {

/// Efficiency of a doubling that pays: at 70 %, the run becomes 1.4 times as fast.
inline constexpr double kPays = 0.7;

/// Most nodes of a training's first run, unless a deadline needs more: nothing is known yet about this
/// training on several nodes.
inline constexpr int kFirstRunNodes = 2;

/// Returns the speedup that `times` as many GPUs must reach if each doubling has to be 2 x `efficiency` times
/// as fast.
inline double paying_speedup(double times, double efficiency = kPays) {
  return std::pow(times, std::log2(2 * efficiency));
}

}  // namespace foretrain
