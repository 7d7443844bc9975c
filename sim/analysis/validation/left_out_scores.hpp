// Rows scored three times, summed up by what was left out and by kind of evidence; the spreads that follow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// What one row came to.
struct ScoredRow {
  std::string key, evidence;                  ///< what it was left out with; which spread is its own
  double in_use = 0, of_all = 0, left_out = 0;  ///< log(predicted / measured)
  bool large = false;
  double needed_seen = 0, needed_unseen = 0;  ///< the least spread whose interval holds the measured value
};

/// Sets all, groups, classes of `out`.
void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out);

/// By class of evidence, from all rows. An unseen machine is never known better than a seen one.
std::map<std::string, KnownTo> spreads_by_evidence(const std::vector<ScoredRow>& rows);

}  // namespace foretrain
