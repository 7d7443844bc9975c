// The answer to "which settings are best": the best case that was found, and the setting that decides.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/sweep/tune.hpp"

namespace foretrain {

/// Returns the answer without assumptions, which the scenario gives. `own_figure` is the figure of the
/// scenario as it stands on `own_gpus`; absent where it does not run or fit, with the reason in
/// `own_why_not`.
Answer answer_of(const TuneResult& search, const std::string& scenario, int own_gpus,
                 std::optional<double> own_figure, const std::string& own_why_not);

}  // namespace foretrain
