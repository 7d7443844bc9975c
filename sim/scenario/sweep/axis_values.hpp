// The values of an axis: a list, or a range in even steps, in even ratios or at random.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// A range from one number to another. The numbers may have a unit, the same one.
struct AxisRange {
  double from = 0, to = 0;
  bool is_log = false;
  /// Both ends are integers, and so are the values between them.
  bool is_whole = false;
  /// Unit as it is written after the number, with its blank.
  std::string unit;
};

/// Returns the value at `place` in [0, 1] of the range, as the file would write it.
Value value_at(const AxisRange& range, double place);

/// Reads the ends and the scale of a table { from, to, scale }. Returns nullopt after a mistake, which is
/// reported.
std::optional<AxisRange> read_range(TableReader& table);

/// Reads a list, or a table { from, to } with step, steps, factor or random. Returns an empty list after a
/// mistake, which is reported. `stream`: stream of random numbers, one for each axis.
std::vector<Value> read_axis_values(const Entry& entry, TableReader& document, std::int64_t seed,
                                    std::uint64_t stream);

/// Points in the unit cube: `count` rows of `dimensions` numbers in [0, 1).
using UnitPoints = std::vector<std::vector<double>>;
/// Returns "random", "latin_hypercube", "sobol".
const std::vector<std::string>& sampling_methods();
/// Returns sample points; the same for the same arguments. Sobol's sequence is rotated by a random offset in
/// each dimension, so that seeds differ; its first points stay the same when more are requested.
UnitPoints unit_points(const std::string& method, std::int64_t seed, std::size_t count,
                       std::size_t dimensions);

}  // namespace foretrain
