// The constants that a calibration file may state: those of every layer's tables, with their physical limits.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cluster/calibration.hpp"

namespace foretrain {

/// Returns all constants in the order in which files and tables list them; "link.*.bandwidth" means that
/// constant of any link.
std::vector<ConstantRange> calibratable_constants();

/// Returns the row of that name; nullptr when there is none.
const ConstantRange* find_constant(const std::vector<ConstantRange>& known, std::string_view name);

}  // namespace foretrain
