// The constants that a calibration file may state: those of every layer's tables, with what physics allows.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"

namespace foretrain {

/// In the order in which files and tables list them; "link.*.bandwidth" stands for that constant of any link.
std::vector<ConstantRange> calibratable_constants();

/// The row of that name; null when there is none.
const ConstantRange* find_constant(const std::vector<ConstantRange>& known, std::string_view name);

}  // namespace foretrain
