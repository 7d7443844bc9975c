// Where the clock stops, far from overflow.
#pragma once

#include <algorithm>

#include "sim/base/units.hpp"

namespace foretrain {

/// Where the clock stops (46 days): what would end later ends here.
inline constexpr Time kHorizon{4'000'000'000'000'000'000};

/// Both at most kHorizon, and so is the result: time never runs backward.
inline Time later(Time time, Time by) { return std::min(time + std::min(by, kHorizon), kHorizon); }

}  // namespace foretrain
