// The latest moment of the clock, far from the overflow of its integer.
#pragma once

#include <algorithm>

#include "sim/base/units.hpp"

namespace foretrain {

/// The latest moment in ps, about 46 days. What would end later ends here.
inline constexpr Time kHorizon{4'000'000'000'000'000'000};

/// Returns time + by, at most kHorizon. Requires that `time` is at most kHorizon and neither is negative; so
/// time never runs backward and never overflows.
inline Time later(Time time, Time by) { return std::min(time + std::min(by, kHorizon), kHorizon); }

}  // namespace foretrain
