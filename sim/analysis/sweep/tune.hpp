// The best case of a space of settings, found by search: along one axis at a time from several starts, and
// nothing is predicted that cannot be better than the best one known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// A figure of case_figures() by which a case is better than another.
struct TuneGoal {
  std::string_view name;
  bool is_largest = false;  ///< else the smallest is best
};
inline constexpr TuneGoal kTuneGoals[] = {{"total_s"},   {"epoch_s"},    {"step_s"}, {"samples_per_s", true},
                                          {"gpu_hours"}, {"energy_kwh"}, {"cost"}};

/// It ends after `searches` starts in a row that led to nothing better. Everything is the same for the same
/// seed.
struct TuneQuestion {
  TuneGoal goal = kTuneGoals[0];
  int searches = 8;
  std::int64_t most_predictions = 5000;
  std::int64_t seed = 1;
};

/// A case that was predicted.
struct TriedCase {
  std::int64_t number = 0;
  std::vector<Value> values;  ///< by column of SweepCases
  CaseResult result;
  double figure = 0;      ///< of the goal; nothing where it does not run or fit
  bool is_right = false;  ///< it runs, fits, and has the figure
};

/// What is known of a case beside the best one.
enum class ComparisonCertainty : std::uint8_t { predicted, cannot_be_better, cannot_run, not_looked_at };

/// The best case with another value on one axis.
struct NeighbourCase {
  Value value;
  ComparisonCertainty known = ComparisonCertainty::not_looked_at;
  double figure = 0;  ///< predicted, or what it cannot be better than
  std::string why_not;
};

/// A setting that a search may change, and its values.
struct TunedAxis {
  std::string name;
  Value best;
  std::vector<NeighbourCase> others;  ///< without those that are no case
};

/// The result of a search over settings: the cases that it tried, the best of them, and how much of the space
/// is known.
struct TuneResult {
  TuneGoal goal;
  std::vector<std::string> columns;  ///< names of the axes
  std::vector<TriedCase> tried;      ///< in the order of the search
  std::size_t best = 0;              ///< of `tried`; its size: none runs and fits
  std::vector<TunedAxis> axes;       ///< of those with several values
  CaseCount cases;
  double share_known = 0;  ///< of all cases: predicted, or proven to be no better or not to run
  bool is_share_exact = true;
  int fruitless = 0;     ///< starts in the end that led to nothing better
  bool ran_out = false;  ///< of predictions
  std::string why_none;  ///< where nothing was found: the first case's reason

  bool found() const { return best < tried.size(); }
};

/// `show`: called with the number of predictions so far.
TuneResult tune(CasePredictor& predictor, SweepCases& cases, const TuneQuestion& question,
                const std::function<void(std::int64_t)>& show = nullptr);

}  // namespace foretrain
