// Trained vectors in front of a sequence, or of the keys and values of its attention.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// What PEFT puts in front of a sequence of embedded words: nothing unless the adapter is a prompt or
/// p_tuning, whose rows every later layer sees; of a prefix with an encoder, what its vectors are made from.
/// `words`: [length, width].
TensorId record_virtual_tokens(Tape& tape, TensorId words);

/// The keys or the values of one attention behind its trained ones; `rows`: [length, width of all groups].
/// Requires that the adapter is a prefix.
TensorId record_prefix(Tape& tape, TensorId rows, std::string_view name);

}  // namespace foretrain
