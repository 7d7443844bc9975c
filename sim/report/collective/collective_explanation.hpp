// Why a collective takes as long as it does, in words: a line per size.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"

namespace foretrain {

/// How the processes launch, then a line per size: algorithm, protocol, channels, the parts of the time, what
/// bounds it, what lost.
std::vector<std::string> explain(const CollectiveCurve& curve);

}  // namespace foretrain
