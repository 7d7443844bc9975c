// Rows scored three times, summed up by what was left out and by kind of evidence; the spreads that follow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// What one row came to.
struct ScoredRow {
  std::string key;                              ///< what it was left out with
  double in_use = 0, of_all = 0, left_out = 0;  ///< log(predicted / measured)
  bool large = false;
  double needed_seen = 0, needed_unseen = 0;  ///< the least spread whose interval holds the measured value
  std::vector<std::string>
      evidence{};                    ///< kinds that it is a witness of; the first is the one it is known by
  std::optional<double> linear{};    ///< log(perfect scaling / measured), where there is an anchor
  std::vector<std::string> views{};  ///< further groups that it is scored in, whatever was left out
};

/// Sets all, groups, views, classes and share of `out`.
void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out);

/// By kind of evidence, from all of its rows. An unseen machine is never known better than a seen one, and
/// takes the share of rows that has to be held so that spreads from other machines hold `most` of its own.
std::map<std::string, KnownTo> spreads_by_evidence(const std::vector<ScoredRow>& rows, double most = 0.9);

/// Rows of a kind with few rows, or rows of few machines, are known by the next coarser one.
void drop_rare_kinds(std::vector<ScoredRow>& rows);

/// That share.
double share_for_unseen(const std::vector<ScoredRow>& rows, double most = 0.9);
/// Kinds of which it holds fewer than eight rows of ten, and the share that does: machines of such a kind
/// differ more from each other than their rows do.
std::map<std::string, double> shares_of_wide_kinds(const std::vector<ScoredRow>& rows, double share);

/// What a row needs, and what it counts.
struct WeightedNeed {
  double needed = 0, weight = 1;
};
/// The least of the needs with which `share` of all weights are held; 0 without any.
double weighted_spread(std::vector<WeightedNeed> needs, double share);

}  // namespace foretrain
