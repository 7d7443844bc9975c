// Recorders of softmax, dropout and a conversion to fp32, for layers of several kinds.
#pragma once

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Records a softmax over the last dimension, or over the channels. `stays_wide` is that of Operator.
/// Requires no token ids.
TensorId record_softmax(Tape& tape, TensorId input, bool stays_wide = false);
/// Records dropout of single elements; with `inplace` the result takes the input's place. Requires no token
/// ids.
TensorId record_dropout(Tape& tape, TensorId input, bool inplace = false);

/// Records a copy in 32 bits of a tensor that 16-bit weights made. It is only for networks with such weights.
TensorId record_conversion_to_float(Tape& tape, TensorId input);

}  // namespace foretrain
