// Settings that the hardware cannot follow, and settings that cannot change the result.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_document.hpp"

namespace foretrain {

/// Replaces a precision that a GPU lacks, and returns a warning on the replacement; nothing when it has it.
/// TF32 before Ampere becomes fp32, fp8 before Ada becomes bf16 or amp_fp16. 16 bits without fast 16-bit
/// arithmetic stay: tensors are stored so, and products run at the fp32 rate.
std::vector<std::string> settle_precision(Scenario& scenario);

/// Returns one sentence for each setting of the document that has no effect beside the others, and for each
/// that was changed away from what [measured] was measured with.
std::vector<std::string> idle_settings(const ScenarioDocument& document, const Scenario& scenario);

}  // namespace foretrain
