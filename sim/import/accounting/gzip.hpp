// gzip in both directions, in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// What gzip or zlib packed, at most `most` bytes; nothing when it is broken, cut or larger.
std::optional<std::string> unpacked_gzip(std::string_view packed, std::size_t most);

/// As `gzip -n` packs it: no name and no time, so that equal texts are equal files. Throws EnvironmentError
/// where there is no memory for it.
std::string packed_gzip(std::string_view text);

}  // namespace foretrain
