// Fine-tuning in [model]: adapters, trained parameters, storage of weights, and the length of a sample.
#pragma once

#include "sim/scenario/sections/model_section.hpp"

namespace foretrain {

/// Returns the keys of [model] itself.
Keys<Scenario> fine_tuning_keys();
/// Returns the keys of [model.adapters].
const Keys<FineTuning>& adapter_keys();

/// Reads [model.adapters] and expands the network as it is trained. Requires that the precision is read.
/// Reports settings that the network cannot have.
void settle_fine_tuning(TableReader& model, Scenario& scenario);

}  // namespace foretrain
