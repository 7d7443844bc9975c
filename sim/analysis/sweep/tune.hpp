// The search for the best case of a space of settings: along one axis at a time from several starts. No case
// is predicted whose bound shows that it cannot be better than the best one known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// A figure of case_figures() by which cases are compared.
struct TuneGoal {
  std::string_view name;
  /// True if the largest value is best; otherwise the smallest is.
  bool is_largest = false;
};
inline constexpr TuneGoal kTuneGoals[] = {{"total_s"},   {"epoch_s"},    {"step_s"}, {"samples_per_s", true},
                                          {"gpu_hours"}, {"energy_kwh"}, {"cost"}};

/// The parameters of a search. It ends after `searches` starts in a row without improvement, or after
/// most_predictions. Equal seeds give equal searches.
struct TuneQuestion {
  TuneGoal goal = kTuneGoals[0];
  int searches = 8;
  std::int64_t most_predictions = 5000;
  std::int64_t seed = 1;
};

/// A case that was predicted.
struct TriedCase {
  std::int64_t number = 0;
  /// Values by column of SweepCases.
  std::vector<Value> values;
  CaseResult result;
  /// Figure of the goal; 0 where it does not run or fit.
  double figure = 0;
  /// True if it runs, fits, and has the figure.
  bool is_right = false;
};

/// The knowledge about a case beside the best one.
enum class ComparisonCertainty : std::uint8_t { predicted, cannot_be_better, cannot_run, not_looked_at };

/// The best case with another value on one axis.
struct NeighbourCase {
  Value value;
  ComparisonCertainty known = ComparisonCertainty::not_looked_at;
  /// The predicted figure, or its bound.
  double figure = 0;
  std::string why_not;
};

/// A setting that a search may change, and its values.
struct TunedAxis {
  std::string name;
  Value best;
  /// The other values that make a case.
  std::vector<NeighbourCase> others;
};

/// The result of a search: the cases that it tried, the best of them, and the part of the space that is
/// known.
struct TuneResult {
  TuneGoal goal;
  /// Names of the axes.
  std::vector<std::string> columns;
  /// Predicted cases in the order of the search.
  std::vector<TriedCase> tried;
  /// Index of the best case in `tried`; tried.size() if none runs and fits.
  std::size_t best = 0;
  /// Axes with several values.
  std::vector<TunedAxis> axes;
  CaseCount cases;
  /// Share of all cases that were predicted, or proven to be no better or not to run.
  double share_known = 0;
  /// False if that share is an estimate from a sample of cases.
  bool is_share_exact = true;
  /// Starts at the end that led to nothing better.
  int fruitless = 0;
  /// True if the predictions were used up.
  bool ran_out = false;
  /// The first case's reason, where nothing was found.
  std::string why_none;

  bool found() const { return best < tried.size(); }
};

/// Searches the cases. `show` is called with the number of predictions so far. Predicts at most
/// question.most_predictions cases; bounds are computed in addition.
TuneResult tune(CasePredictor& predictor, SweepCases& cases, const TuneQuestion& question,
                const std::function<void(std::int64_t)>& show = nullptr);

}  // namespace foretrain
