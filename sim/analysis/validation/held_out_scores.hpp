// Rows scored three times, summed up by what was left out and by what their messages move over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// What one row came to; residuals are log(predicted / measured), of trainings of their throughput.
struct ScoredRow {
  std::string key;                              ///< what it was left out with
  double in_use = 0, of_all = 0, left_out = 0;  ///< residuals
  bool large = false;
  Reach reach{};       ///< of the residual, by the interval that a machine has which nobody measured
  std::string kind{};  ///< what is known about alike: path, or kind of network
  std::optional<double> linear{};    ///< residual of perfect scaling, where there is an anchor
  std::vector<std::string> views{};  ///< further groups that it is scored in, whatever was left out
  bool is_held() const { return left_out <= reach.above && -left_out <= reach.below; }
};

/// Sets all, groups, views and classes of `out`.
void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out);

}  // namespace foretrain
