// Virtual tokens: trained vectors in front of a sequence, or of the keys and values of its attention.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Records PEFT's virtual tokens in front of a sequence of embedded words [length, width], and returns the
/// longer sequence, which every later layer reads. It adds nothing unless the adapter is a prompt or
/// p_tuning. For a prefix with an encoder it records the vectors that keys and values are made from.
TensorId record_virtual_tokens(Tape& tape, TensorId words);

/// Records the trained keys or values in front of those of one attention, and returns both. `rows` is
/// [length, width of all groups]. Requires that the adapter is a prefix.
TensorId record_prefix(Tape& tape, TensorId rows, std::string_view name);

}  // namespace foretrain
