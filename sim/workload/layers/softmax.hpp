// A softmax and a dropout, as layers of several kinds record them.
#pragma once

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Over the last dimension, or the channels; `stays_wide`: as Operator::stays_wide. Requires no token ids.
TensorId record_softmax(Tape& tape, TensorId input, bool stays_wide = false);
/// Of single elements; `inplace`: the result takes the input's place. Requires no token ids.
TensorId record_dropout(Tape& tape, TensorId input, bool inplace = false);

/// A copy in 32 bits of what 16-bit weights make; only for networks that have such.
TensorId record_conversion_to_float(Tape& tape, TensorId input);

}  // namespace foretrain
