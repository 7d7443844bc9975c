// The constants that a calibration file may state: those of every layer's tables, with what physics allows.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"

namespace foretrain {

/// In the order in which files and tables list them.
std::vector<ConstantRange> calibratable_constants();

/// The row of that name; null when there is none.
inline const ConstantRange* find_constant(const std::vector<ConstantRange>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const ConstantRange& range) { return range.name == name; });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace foretrain
