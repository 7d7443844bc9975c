// The answer to "which settings are best": the best case that was found, and which setting decides.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/sweep/tune.hpp"

namespace foretrain {

/// `own_figure`: of the scenario as it stands on `own_gpus`; none where it does not run or fit, for
/// `own_why_not`. Fills everything but what the scenario says.
Answer answer_of(const TuneResult& search, const std::string& scenario, int own_gpus,
                 std::optional<double> own_figure, const std::string& own_why_not);

}  // namespace foretrain
