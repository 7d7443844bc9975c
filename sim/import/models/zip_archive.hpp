// Declares access to the members of a ZIP archive by its central directory. Sizes and places are checked
// before anything is unpacked.
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
  /// Bytes as stored, bytes once unpacked, and the place of the local header in the archive.
  std::uint64_t packed = 0, size = 0, offset = 0;
  std::uint32_t checksum = 0;
  /// 0: stored, 8: deflated.
  std::uint16_t method = 0;
};

/// Members of an archive, at most.
inline constexpr std::size_t kMostZipMembers = 100'000;

/// Returns whether a text begins as a ZIP archive does.
bool is_zip(std::string_view text);
/// Returns the members in the order of the directory. Nothing where the directory is missing or damaged, or
/// has more than kMostZipMembers entries.
std::optional<std::vector<ZipMember>> zip_members(std::string_view archive);
/// Returns the contents of a member. Nothing where it would have more than `most` bytes, is damaged, or is
/// packed by another method.
std::optional<std::string> unzipped(std::string_view archive, const ZipMember& member, std::size_t most);

}  // namespace foretrain
