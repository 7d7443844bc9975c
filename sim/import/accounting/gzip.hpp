// Packs and unpacks gzip in memory, by zlib.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// Unpacks gzip or zlib data. Returns no value when the data is broken or cut, or when the input or the
/// output exceeds `most` bytes.
std::optional<std::string> unpacked_gzip(std::string_view packed, std::size_t most);

/// Returns the CRC-32 of a text, the checksum of gzip and ZIP.
std::uint32_t crc32_of(std::string_view text);

/// Packs a text as `gzip -n` does: without name and time, so that equal texts give equal bytes. Throws
/// EnvironmentError when there is no memory for it.
std::string packed_gzip(std::string_view text);

}  // namespace foretrain
