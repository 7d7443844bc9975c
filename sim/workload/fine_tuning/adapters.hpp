// Adapters of linear layers, and the unpacking of packed weights.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Records a linear layer's adapter and returns the result with it. `base` is the layer's own result of
/// `input`, `prefix` that of the layer's parameters. Requires that the layer has an adapter
/// (Trainability::has_adapter).
TensorId record_adapter(Tape& tape, TensorId input, TensorId base, std::string_view prefix);

/// Returns the kernels that write the 16-bit copy of this many packed weights, which their product reads.
Operator dequantisation(WeightFormat format, double elements);

}  // namespace foretrain
