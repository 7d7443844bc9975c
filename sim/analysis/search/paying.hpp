// When more GPUs pay: each doubling has to make the run faster by some factor.
#pragma once

#include <cmath>

namespace foretrain {

/// A doubling of the GPUs pays when it uses them at 70 %: the run becomes 1.4 times as fast.
inline constexpr double kPays = 0.7;

/// A first run of a training has no more nodes, unless a deadline needs them: nobody has seen it on several
/// yet.
inline constexpr int kFirstRunNodes = 2;

/// How much faster `times` as many GPUs must be when each doubling has to be 2 x `efficiency` times as fast.
inline double paying_speedup(double times, double efficiency = kPays) {
  return std::pow(times, std::log2(2 * efficiency));
}

}  // namespace foretrain
