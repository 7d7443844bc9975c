// Numbers for people: so many decimals, never a minus before zero, and nothing that is no number.
#pragma once

#include <string>

namespace foretrain {

/// "0.54": `decimals` digits behind the point. What rounds to zero has no sign; from a billion on three
/// significant digits ("1.2e+09");
/// "-" for NaN and infinity.
std::string decimal(double value, int decimals);
/// The same with a plus before what is more than zero: "+0.54", "-0.54", "0.00".
std::string signed_decimal(double value, int decimals);

/// A share as a percentage, without the sign of percent: decimal(100 * share).
std::string percent(double share, int decimals);
std::string signed_percent(double share, int decimals);

}  // namespace foretrain
