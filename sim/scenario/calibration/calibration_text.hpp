// A calibration as the text of its file, with comments for people. The reader accepts every text that is
// written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/calibration.hpp"

namespace foretrain {

/// Returns the TOML text; `known` gives the dimension of each constant. Values have six significant digits,
/// spreads and residuals four, which is far finer than anything is measured. Requires values that the reader
/// allows: finite numbers, segments that ascend.
std::string write_calibration(const Calibration& calibration, const std::vector<ConstantRange>& known);
/// As above, with calibratable_constants().
std::string write_calibration(const Calibration& calibration);

/// Returns the calibration with the numbers that its text has. Reading write_calibration() gives the same,
/// except for `name`, which is that of the file.
Calibration as_written(Calibration calibration, const std::vector<ConstantRange>& known);
Calibration as_written(Calibration calibration);

/// Returns a text as a TOML string on one line, as printable() except for tabs: the reader accepts nothing
/// else.
std::string quoted(std::string_view text);

/// Returns a quantity with six significant digits in the unit of its size: "3.41 us", "24.1 GBps"; sizes as
/// whole "64 KiB" or "12345 B".
std::string write_quantity(double value, Dimension dimension);

}  // namespace foretrain
