// Quantities as people write them: "25 GBps", "2.5 us", "26.2 MB", "312 TFLOPs". Parsing and printing.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace foretrain {

/// The dimension of a quantity; it decides which units are allowed.
enum class Dimension { time, bytes, flops, byte_rate, flop_rate, power };

/// Returns the name for messages: "time", "size", "amount of work", "bandwidth", "compute rate" or "power".
std::string_view name_of(Dimension dimension);
/// Returns an example of the right spelling, for hints: "2.5 us", "25 MiB", …
std::string_view example_of(Dimension dimension);

/// The allowed values of a quantity in base units: zero, or from `least` to `most`.
struct QuantityRange {
  double least = 0, most = 0;
};
/// Returns the widest range of the dimension; single keys may narrow it. docs/models/step.md explains why
/// these values fit doubles and 64-bit integers.
const QuantityRange& range_of(Dimension dimension);
/// Range of a simulated time, in s: up to kLongestTime.
inline constexpr QuantityRange kDurationRange{1e-12, 1e6};
/// Range of the delay of one message on one link or switch, in s. It is narrow because collectives take
/// millions of steps.
inline constexpr QuantityRange kLatencyRange{1e-12, 1};

/// The result of reading a quantity: a value in base units (s, B, FLOP, B/s, FLOP/s, W), or an error.
struct ParsedQuantity {
  double value = 0;
  /// The mistake in the text; empty when it is a quantity of the wanted dimension.
  std::string error;
  /// The right way to write it; may be empty.
  std::string hint;
  explicit operator bool() const { return error.empty(); }
};

/// Reads "NUMBER UNIT"; the space is optional.
///
/// The prefixes k, M, G, T and P are powers of ten; Ki, Mi, Gi and Ti are powers of two. b is bit, B is byte.
/// Rates end in "ps" or "/s" ("400 Gbps", "50 GB/s", "312 TFLOPs" = 312 TFLOP/s). Times are ps, ns, us, ms,
/// s, min, h and d. Work is "FLOP", power is "W". Rejects NaN, infinity, negative numbers, missing or foreign
/// units, and values out of range. The hint then states the range in the unit of the text.
ParsedQuantity parse_quantity(std::string_view text, Dimension wanted);
/// Does the same with a range of the caller.
ParsedQuantity parse_quantity(std::string_view text, Dimension wanted, const QuantityRange& range);

/// Return the shortest natural spelling with three significant digits: "25 GBps", "2.5 us", "26.2 MB", "312
/// TFLOPs".
std::string to_string(Time time);
std::string to_string(Bytes bytes);
std::string to_string(Flops work);
std::string to_string(ByteRate rate);
std::string to_string(FlopRate rate);

}  // namespace foretrain
