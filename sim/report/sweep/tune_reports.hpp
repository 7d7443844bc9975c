// What a search found: the best case, how sure that is, and what each setting does beside it.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/sweep/tune.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// A search with what it is held against.
struct TuneAnswer {
  std::string scenario;
  TuneResult search;
  CaseResult own;  ///< the scenario as it stands, on `own_gpus`
  int own_gpus = 1;
  std::vector<MeasuredRuns> measured{};  ///< evidence that scales the model for all cases
  std::optional<double> own_figure{};    ///< of the goal; none: it does not run or fit
  Answer answer{};
};

std::string write_tuning(const TuneAnswer& answer);
/// Every case that was predicted, in the order of the search.
std::string write_tuning_csv(const TuneAnswer& answer);
std::string write_tuning_json(const TuneAnswer& answer);
inline constexpr Format<TuneAnswer> kTuneReports[] = {
    {"table", write_tuning}, {"csv", write_tuning_csv}, {"json", write_tuning_json}};

}  // namespace foretrain
