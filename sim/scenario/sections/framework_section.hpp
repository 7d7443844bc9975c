// The table [framework]; the version decides defaults of other tables.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Returns the declared keys of [framework].
const Keys<Framework>& framework_keys();
/// Returns the names of the kernels of fused attention.
std::vector<Choice<AttentionKernel>> fused_attention_choices();
/// Reads [framework], and sets the values that follow from it unless a key states others: zero_grad and the
/// loop's hooks. To be called before [model] and [loop] are read.
void read_framework(TableReader& framework, Scenario& scenario);
/// Sets the layout of images. TensorFlow's layout pass makes 16-bit convolutions channels last if tensor
/// cores need that, in the versions that run on Ampere and newer GPUs. Requires that precision and cluster
/// are read. `layout_given`: the scenario names a layout.
void settle_image_layout(bool layout_given, Scenario& scenario);

}  // namespace foretrain
