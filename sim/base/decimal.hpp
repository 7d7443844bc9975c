// Numbers for people: a fixed number of decimals, no minus before zero, and no NaN or infinity.
#pragma once

#include <cstdint>
#include <string>

namespace foretrain {

/// Returns `value` with `decimals` digits after the point: "0.54". A value that rounds to zero has no sign.
/// From 1e9 on it has three significant digits ("1.2e+09"). NaN and infinity give "-".
std::string decimal(double value, int decimals);
/// Returns the same with a plus before values above zero: "+0.54", "-0.54", "0.00".
std::string signed_decimal(double value, int decimals);

/// Returns a share as a percentage without the percent sign: decimal(100 * share).
std::string percent(double share, int decimals);
/// Returns the same with a plus before values above zero.
std::string signed_percent(double share, int decimals);

/// Returns a number with a comma before each group of three digits, such as "25,557,032".
std::string grouped_digits(std::int64_t number);

}  // namespace foretrain
