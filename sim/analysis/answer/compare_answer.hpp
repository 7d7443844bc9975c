// The answer to "which strategy": whether to change it, in a sentence that never contradicts the table.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/compare.hpp"

namespace foretrain {

/// "4 GPUs: ddp is within 2 % of the fastest (fsdp): no reason to switch." Without a line break.
std::string comparison_verdict(const ComparedGpus& numbers, const std::string& own_strategy);

/// `causes`: of a step of the row that is answered (compared_row()); none where none runs. `are_strategies`:
/// the rows are strategies, which --strategy names. Fills everything but what the scenario says.
Answer answer_of(const ComparedGpus& numbers, const std::string& own_strategy,
                 std::optional<StepCauses> causes, bool are_strategies);

/// The scenario's own row where it runs and fits, else the fastest; nullptr where none runs.
const ComparedStrategy* compared_row(const ComparedGpus& numbers, const std::string& own_strategy);

}  // namespace foretrain
