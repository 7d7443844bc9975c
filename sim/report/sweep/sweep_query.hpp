// Questions about the results of a sweep: rows that meet a condition, the best by an objective, the Pareto
// front of several objectives, and the effect of each axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/sweep/sql.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// A question about a sweep's database.
struct SweepQuestion {
  /// SQL condition over the columns; empty: every case that runs.
  std::string where;
  /// Selects the cases that cannot run instead.
  bool failed = false;
  /// SQL expression; the smallest value comes first.
  std::string best;
  /// SQL expressions, of each of which less is better.
  std::vector<std::string> pareto;
  /// Columns that are shown; empty: axes and usual figures.
  std::vector<std::string> columns;
  /// Largest number of rows.
  std::int64_t most = 20;
  /// SQL expression whose values are summarized for each axis, instead of rows.
  std::string effects;
};

/// The rows that answer a question.
struct SweepAnswer {
  std::string sweep;
  /// Heading such as "12 of 500 cases, …".
  std::string heading;
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  std::vector<std::string> warnings{};
};

/// Answers a question. Throws InputError for an expression that is wrong, does more than compute, or takes
/// too long.
SweepAnswer query_sweep(const std::string& database, const SweepQuestion& question);

}  // namespace foretrain
