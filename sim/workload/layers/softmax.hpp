// A softmax and a dropout, as layers of several kinds record them.
#pragma once

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Over the last dimension, or the channels. Requires no token ids.
TensorId record_softmax(Tape& tape, TensorId input);
/// Of single elements; `inplace`: the result takes the input's place. Requires no token ids.
TensorId record_dropout(Tape& tape, TensorId input, bool inplace = false);

}  // namespace foretrain
