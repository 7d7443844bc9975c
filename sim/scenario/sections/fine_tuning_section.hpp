// Fine-tuning in [model]: adapters, what is trainable, how weights are stored, and the length of a sample.
#pragma once

#include "sim/scenario/sections/model_section.hpp"

namespace foretrain {

/// Keys of [model] itself.
Keys<Scenario> fine_tuning_keys();
/// Keys of [model.adapters].
const Keys<FineTuning>& adapter_keys();

/// Reads [model.adapters] and expands the network as it is trained. Needs the precision to be read.
void settle_fine_tuning(TableReader& model, Scenario& scenario);

}  // namespace foretrain
