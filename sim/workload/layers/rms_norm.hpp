// The recorder of a root-mean-square norm, for layers of several kinds.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Records a norm over the last dimension, with a trained vector of that width, named `prefix` and "weight".
/// Requires rows.
TensorId record_rms_norm(Tape& tape, TensorId input, std::string_view prefix);

}  // namespace foretrain
