// What an adapter adds to a linear layer.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// The result of a linear layer with its adapter. `base`: the layer's own result of `input`; `prefix`: of the
/// layer's parameters. Requires that the layer has one (Trainability::has_adapter).
TensorId record_adapter(Tape& tape, TensorId input, TensorId base, std::string_view prefix);

/// The kernels that write the 16-bit copy of so many packed weights, which their product reads.
Operator dequantisation(WeightFormat format, double elements);

}  // namespace foretrain
