// A zip archive's members by its central directory; sizes and places are checked before anything is unpacked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A member of a ZIP archive.
struct ZipMember {
  std::string name;
  std::uint64_t packed = 0, size = 0, offset = 0;  ///< offset: of its local header
  std::uint32_t checksum = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
};

inline constexpr std::size_t kMostZipMembers = 100'000;

bool is_zip(std::string_view text);
/// Nothing where the directory is not there or is damaged.
std::optional<std::vector<ZipMember>> zip_members(std::string_view archive);
/// What a member holds, at most `most` bytes; nothing where it is larger, damaged or packed in another way.
std::optional<std::string> unzipped(std::string_view archive, const ZipMember& member, std::size_t most);

}  // namespace foretrain
