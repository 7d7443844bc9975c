// A calibration as the text of its file, with comments for who opens it; the reader takes back what is
// written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/calibration.hpp"

namespace foretrain {

/// TOML; `known` tells the dimension of each constant. Values have six significant digits, spreads and
/// residuals four: far finer than anything is measured. Requires what the reader allows: finite numbers,
/// segments that ascend.
std::string write_calibration(const Calibration& calibration, const std::vector<ConstantRange>& known);
std::string write_calibration(const Calibration& calibration);  ///< with calibratable_constants()

/// The same calibration with the numbers that its text has: what reading write_calibration() gives, but for
/// `name`, which is the file's.
Calibration as_written(Calibration calibration, const std::vector<ConstantRange>& known);
Calibration as_written(Calibration calibration);

/// A text as a TOML string on one line, as printable() but for tabs: the reader takes nothing else.
std::string quoted(std::string_view text);

/// A quantity with six significant digits in the unit of its size: "3.41 us", "24.1 GBps"; sizes as whole "64
/// KiB" or "12345 B".
std::string write_quantity(double value, Dimension dimension);

}  // namespace foretrain
