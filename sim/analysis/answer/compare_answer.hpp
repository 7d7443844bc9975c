// The answer to "which strategy": one sentence on whether to change it, which never contradicts the table.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/compare.hpp"

namespace foretrain {

/// Returns the verdict without a line break: "4 GPUs: ddp is within 2 % of the fastest (fsdp): no reason to
/// switch."
std::string comparison_verdict(const ComparedGpus& numbers, const std::string& own_strategy);

/// Returns the answer without question and assumptions, which the scenario gives. `causes` are those of the
/// row that is answered (compared_row()), none where no row runs. `are_strategies` is true if --strategy
/// names the rows.
Answer answer_of(const ComparedGpus& numbers, const std::string& own_strategy,
                 std::optional<StepCauses> causes, bool are_strategies);

/// Returns the scenario's own row where it runs and fits, else the fastest; nullptr where none runs.
const ComparedStrategy* compared_row(const ComparedGpus& numbers, const std::string& own_strategy);

}  // namespace foretrain
