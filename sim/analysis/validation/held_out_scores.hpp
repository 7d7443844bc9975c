// Scores of rows with three sets of constants, summed up by the held-out units and by what messages move
// over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// The result for one row; residuals are log(predicted / measured), for trainings of their throughput.
struct ScoredRow {
  /// The unit that the row was held out with.
  std::string key;
  /// Residuals with the constants in use, with those fitted to all rows, and with those fitted without the
  /// row's unit.
  double in_use = 0, of_all = 0, left_out = 0;
  /// True for collectives of at least kLargeMessage.
  bool large = false;
  /// Reach of the residual by the interval of a machine without measurements.
  Reach reach{};
  /// Class of the row: path, or kind of network.
  std::string kind{};
  /// Residual of perfect scaling, where there is an anchor.
  std::optional<double> linear{};
  /// Further groups that the row is scored in, independent of the held-out unit.
  std::vector<std::string> views{};
  /// Returns true if the held-out residual lies within the interval.
  bool is_held() const { return left_out <= reach.above && -left_out <= reach.below; }
};

/// Sets all, groups, views and classes of `out`.
void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out);

}  // namespace foretrain
