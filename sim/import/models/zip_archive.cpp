// Reads ZIP archives by the format of APPNOTE.TXT (pkware.com).
//
// The end record is the last thing in the file, or has a comment behind it. Where a number does not fit into
// 32 bits, a zip64 record before it has it. A deflated member becomes a gzip stream: a header goes in front,
// its checksum and size behind. So zlib is used in one place only, which also checks the sum.
#include "sim/import/models/zip_archive.hpp"

#include "sim/import/accounting/gzip.hpp"

namespace foretrain {

namespace {

/// Signatures of the records, as little-endian numbers.
constexpr std::uint64_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                        kLocal = 0x04034b50;
/// Stands in a 32-bit field whose number is in a zip64 record.
constexpr std::uint64_t kNoFit = 0xFFFFFFFF;
/// Bytes of the end record, and of the longest comment behind it.
constexpr std::size_t kEndSize = 22, kLongestComment = 65'535;

/// Returns a little-endian number of `size` bytes; 0 where it lies beyond the end.
std::uint64_t little(std::string_view text, std::uint64_t at, int size) {
  std::uint64_t out = 0;
  if (at > text.size() || text.size() - at < static_cast<std::size_t>(size)) return 0;
  for (int i = size; i-- > 0;)
    out = out << 8 | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  return out;
}

/// Returns the place of the end record. The search goes backwards, because a comment may stand behind it.
std::optional<std::size_t> end_record(std::string_view archive) {
  if (archive.size() < kEndSize) return std::nullopt;
  const std::size_t last = archive.size() - kEndSize;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t at = last + 1; at-- > first;)
    if (little(archive, at, 4) == kEnd) return at;
  return std::nullopt;
}

/// Replaces the numbers that do not fit by those of the zip64 extra field, where they stand in this order.
void read_extra(std::string_view extra, ZipMember& member) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t kind = little(extra, at, 2), size = little(extra, at + 2, 2);
    std::size_t value = at + 4;
    if (kind == 1) {
      for (std::uint64_t* number : {&member.size, &member.packed, &member.offset}) {
        if (*number != kNoFit) continue;
        *number = little(extra, value, 8), value += 8;
      }
    }
    at += 4 + size;
  }
}

}  // namespace

bool is_zip(std::string_view text) { return text.starts_with("PK\x03\x04"); }

/// Each entry must begin with its signature, so a wrong count or a damaged directory is noticed.
std::optional<std::vector<ZipMember>> zip_members(std::string_view archive) {
  const std::optional<std::size_t> end = end_record(archive);
  if (!end) return std::nullopt;
  // Fields of the end record: entries at 10, place of the directory at 16.
  std::uint64_t count = little(archive, *end + 10, 2), at = little(archive, *end + 16, 4);
  if ((count == 0xFFFF || at == kNoFit) && *end >= 20 && little(archive, *end - 20, 4) == kLocator64) {
    const std::uint64_t record = little(archive, *end - 12, 8);
    if (little(archive, record, 4) != kEnd64) return std::nullopt;
    count = little(archive, record + 32, 8), at = little(archive, record + 48, 8);
  }
  if (count > kMostZipMembers) return std::nullopt;
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (little(archive, at, 4) != kEntry) return std::nullopt;
    // Fields of an entry: method 10, checksum 16, packed size 20, size 24, lengths of name, extra field and
    // comment 28 to 32, place of the local header 42.
    const std::uint64_t name = little(archive, at + 28, 2), extra = little(archive, at + 30, 2),
                        comment = little(archive, at + 32, 2);
    if (at + 46 + name + extra > archive.size()) return std::nullopt;
    ZipMember member{std::string(archive.substr(at + 46, name)),
                     little(archive, at + 20, 4),
                     little(archive, at + 24, 4),
                     little(archive, at + 42, 4),
                     static_cast<std::uint32_t>(little(archive, at + 16, 4)),
                     static_cast<std::uint16_t>(little(archive, at + 10, 2))};
    read_extra(archive.substr(at + 46 + name, extra), member);
    members.push_back(std::move(member));
    at += 46 + name + extra + comment;
  }
  return members;
}

/// Methods other than storing and deflating are not used by PyTorch.
std::optional<std::string> unzipped(std::string_view archive, const ZipMember& member, std::size_t most) {
  // Checks come before anything is unpacked, so a hostile archive cannot make the program take much memory.
  if (member.size > most || member.packed > archive.size() || member.offset > archive.size())
    return std::nullopt;
  if (little(archive, member.offset, 4) != kLocal) return std::nullopt;
  // The local header has its own name and extra field, whose lengths may differ from those in the directory.
  const std::uint64_t from =
      member.offset + 30 + little(archive, member.offset + 26, 2) + little(archive, member.offset + 28, 2);
  if (from > archive.size() || member.packed > archive.size() - from) return std::nullopt;
  const std::string_view packed = archive.substr(from, member.packed);
  // A stored member is its own contents, so both sizes are equal; the first check bounds them by `most`.
  if (member.method == 0) {
    const bool is_whole = member.size == member.packed && crc32_of(packed) == member.checksum;
    return is_whole ? std::optional(std::string(packed)) : std::nullopt;
  }
  if (member.method != 8) return std::nullopt;
  std::string stream("\x1f\x8b\x08\0\0\0\0\0\0\0", 10);
  stream += packed;
  for (const std::uint64_t number : {std::uint64_t{member.checksum}, member.size})
    for (int byte = 0; byte < 4; ++byte) stream += static_cast<char>(number >> (8 * byte) & 0xFF);
  return unpacked_gzip(stream, most);
}

}  // namespace foretrain
