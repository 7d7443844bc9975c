// The result of a search: the best case, how sure that is, and the effect of each setting around it.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/sweep/tune.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// A search, with the scenario that it started from.
struct TuneAnswer {
  std::string scenario;
  TuneResult search;
  /// Prediction of the scenario itself on `own_gpus`.
  CaseResult own;
  int own_gpus = 1;
  /// Measured runs that scale the model for all cases.
  std::vector<MeasuredRuns> measured{};
  /// The scenario's value of the goal; none: it does not run or fit.
  std::optional<double> own_figure{};
  Answer answer{};
};

/// Returns the table of `tune`.
std::string write_tuning(const TuneAnswer& answer);
/// Returns every case that was predicted, in the order of the search.
std::string write_tuning_csv(const TuneAnswer& answer);
/// Returns foretrain.tuning/1.
std::string write_tuning_json(const TuneAnswer& answer);
/// The formats of `tune`; the first is the default.
inline constexpr Format<TuneAnswer> kTuneReports[] = {
    {"table", write_tuning}, {"csv", write_tuning_csv}, {"json", write_tuning_json}};

}  // namespace foretrain
