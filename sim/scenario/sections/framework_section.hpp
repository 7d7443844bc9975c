// The table [framework], whose version decides defaults of other tables.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

const Keys<Framework>& framework_keys();
/// Names of the kernels of fused attention.
std::vector<Choice<AttentionKernel>> fused_attention_choices();
/// Reads [framework], and sets what follows from it where no key says otherwise: zero_grad and the loop's
/// hooks. Before [model] and [loop].
void read_framework(TableReader& framework, Scenario& scenario);
/// TensorFlow's layout pass makes 16-bit convolutions channels last where tensor cores want them so, in the
/// versions that run on Ampere and newer GPUs. Requires the precision and the cluster; `layout_given`: the
/// scenario names a layout.
void settle_image_layout(bool layout_given, Scenario& scenario);

}  // namespace foretrain
