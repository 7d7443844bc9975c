// Declares the reader of Chakra's execution traces: protobuf messages (chakra_et.proto), read by their field
// numbers.
#pragma once

#include <string_view>

#include "sim/import/traces/execution_trace.hpp"

namespace foretrain {

/// Largest file in bytes. The messages are read from memory, because a length stands ahead of each.
inline constexpr std::size_t kLargestChakra = std::size_t{1} << 30;

/// Returns whether the bytes begin as such a file does: a length, then a header whose version comes first.
bool is_chakra(std::string_view bytes);

/// Returns the trace of all bytes. Throws InputError, with the byte, for what is cut short or no such
/// message, and above the limits.
ExecutionTrace read_chakra(std::string_view bytes, const std::string& file, const TraceLimits& limits = {});

}  // namespace foretrain
