// The values of an axis: a list, or a range in even steps, in even ratios or at random.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// From one number to another; numbers may carry a unit, the same one.
struct AxisRange {
  double from = 0, to = 0;
  bool is_log = false;
  bool is_whole = false;  ///< both ends are integers, and so is what lies between
  std::string unit;       ///< as written behind the number, with its blank
};

/// At `place` in 0..1 of the range, as the file would say it.
Value value_at(const AxisRange& range, double place);

/// The ends and the scale of a table { from, to, scale }. Nothing after a mistake, which is reported.
std::optional<AxisRange> read_range(TableReader& table);

/// A list, or a table { from, to } with step, steps, factor or random. Empty after a mistake. `stream`: of
/// the random numbers, one for each axis.
std::vector<Value> read_axis_values(const Entry& entry, TableReader& document, std::int64_t seed,
                                    std::uint64_t stream);

/// Points in the unit cube: `count` rows of `dimensions` numbers in [0, 1).
using UnitPoints = std::vector<std::vector<double>>;
/// "random", "latin_hypercube", "sobol".
const std::vector<std::string>& sampling_methods();
/// The same for the same arguments. Sobol's sequence is moved round by a draw for each dimension, so that
/// seeds differ; its first points stay when more are asked for.
UnitPoints unit_points(const std::string& method, std::int64_t seed, std::size_t count,
                       std::size_t dimensions);

}  // namespace foretrain
