// Quantities as people write them: "25 GBps", "2.5 us", "26.2 MB", "312 TFLOPs"; parsing and printing.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace foretrain {

/// What a quantity measures; decides which units it may carry.
enum class Dimension { time, bytes, flops, byte_rate, flop_rate, power };

/// "time", "size", "amount of work", "bandwidth", "compute rate", "power": for messages.
std::string_view name_of(Dimension dimension);
/// An example of the right spelling, for hints: "2.5 us", "25 MiB", …
std::string_view example_of(Dimension dimension);

/// What a quantity may be, in base units: zero, or from `least` to `most`.
struct QuantityRange {
  double least = 0, most = 0;
};
/// The widest range of each dimension; keys may narrow it. docs/models/limits.md: what this leaves of doubles
/// and 64 bits.
const QuantityRange& range_of(Dimension dimension);
/// A time that is simulated: up to kLongestTime.
inline constexpr QuantityRange kDurationRange{1e-12, 1e6};
/// What one message waits on one link or switch: collectives take millions of steps.
inline constexpr QuantityRange kLatencyRange{1e-12, 1};

/// The outcome of reading a quantity: a value in base units (s, B, FLOP, B/s, FLOP/s, W) or what is wrong
/// with the text.
struct ParsedQuantity {
  double value = 0;
  std::string error;  ///< empty when the text is a quantity of the wanted dimension
  std::string hint;   ///< how to write it; may be empty
  explicit operator bool() const { return error.empty(); }
};

/// Reads "NUMBER UNIT" (the space is optional). Prefixes k M G T P are powers of ten, Ki Mi Gi Ti of two; b =
/// bit, B = byte; rates end in "ps" or "/s" ("400 Gbps", "50 GB/s", "312 TFLOPs" = 312 TFLOP/s); times are ps
/// ns us ms s min h d; plain work is "FLOP"; power is "W". Rejects NaN, infinity, negative numbers, missing
/// or foreign units, and what is out of range: the hint then says the range in the unit of the text.
ParsedQuantity parse_quantity(std::string_view text, Dimension wanted);
ParsedQuantity parse_quantity(std::string_view text, Dimension wanted, const QuantityRange& range);

/// Shortest natural spelling with three significant digits: "25 GBps", "2.5 us", "26.2 MB", "312 TFLOPs".
std::string to_string(Time time);
std::string to_string(Bytes bytes);
std::string to_string(Flops work);
std::string to_string(ByteRate rate);
std::string to_string(FlopRate rate);

}  // namespace foretrain
