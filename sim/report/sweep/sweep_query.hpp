// Questions to a sweep's results: which rows, the best by some objective, those that no other beats in all of
// several, and what each axis does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/sweep/sql.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// A question to a sweep's database: columns, conditions, order and number of rows.
struct SweepQuestion {
  std::string where;                 ///< SQL over the columns; empty: every case that runs
  bool failed = false;               ///< those that cannot run instead
  std::string best;                  ///< an expression; the smallest first
  std::vector<std::string> pareto;   ///< expressions, of all of which less is better
  std::vector<std::string> columns;  ///< shown; empty: axes and the usual figures
  std::int64_t most = 20;            ///< rows
  std::string effects;               ///< of each axis on this expression, instead of rows
};

/// Rows of a sweep's database that answer a question.
struct SweepAnswer {
  std::string sweep;
  std::string heading;  ///< "12 of 500 cases, …"
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  std::vector<std::string> warnings{};
};

/// Throws InputError for expressions that are none, that do more than compute, or take too long.
SweepAnswer query_sweep(const std::string& database, const SweepQuestion& question);

}  // namespace foretrain
