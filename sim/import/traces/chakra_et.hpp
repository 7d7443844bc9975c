// Chakra's execution traces as protobuf messages (chakra_et.proto), read by their field numbers.
#pragma once

#include <string_view>

#include "sim/import/traces/execution_trace.hpp"

namespace foretrain {

/// Largest file: its messages are read from memory.
inline constexpr std::size_t kLargestChakra = std::size_t{1} << 30;

/// Whether the bytes begin as such a file does: a length, then a header whose version comes first.
bool is_chakra(std::string_view bytes);

/// Throws InputError, with the byte it stands at, for what is cut short or no such message.
ExecutionTrace read_chakra(std::string_view bytes, const std::string& file, const TraceLimits& limits = {});

}  // namespace foretrain
