// The reader of tar archives. An archive has headers of 512 bytes, each followed by its file in blocks of
// 512. The archive of the program is indexed once.
#include "sim/scenario/toml/packed_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

namespace foretrain {

namespace {

namespace fs = std::filesystem;

/// Sizes and offsets of the fields of a ustar header, in bytes, and the limit of files in the program.
constexpr std::size_t kBlock = 512, kNameLength = 100, kSizeAt = 124, kSizeLength = 12, kKindAt = 156,
                      kMagicAt = 257, kPrefixAt = 345, kPrefixLength = 155, kMostPacked = 10'000;

/// Returns a field of a header up to its first NUL.
std::string_view field(std::string_view header, std::size_t at, std::size_t length) {
  const std::string_view all = header.substr(at, length);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

/// Returns the size of a file, which is written in octal digits.
std::optional<std::size_t> size_in(std::string_view header) {
  std::string_view digits = field(header, kSizeAt, kSizeLength);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  std::size_t size = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 8);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return size;
}

/// Returns whether a name is relative and has no empty or ".." part.
bool is_plain(std::string_view name) {
  if (name.empty() || name.starts_with('/')) return false;
  const auto is_part_plain = [](std::string_view part) { return !part.empty() && part != ".."; };
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('/'), name.size());
    if (!is_part_plain(name.substr(0, end))) return false;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return true;
}

using PackedFiles = std::map<std::string, std::string_view, std::less<>>;

/// Returns the files of the program by path.
const PackedFiles& packed_files() {
  static const PackedFiles files = [] {
    PackedFiles out;
    if (const auto entries = read_tar(packed_catalogs(), kMostPacked))
      for (const TarEntry& entry : *entries) out[std::string(kPackedFolder) + "/" + entry.name] = entry.text;
    return out;
  }();
  return files;
}

bool is_packed_path(std::string_view path) { return path.starts_with(kPackedFolder); }

}  // namespace

std::optional<std::vector<TarEntry>> read_tar(std::string_view archive, std::size_t most) {
  std::vector<TarEntry> out;
  for (std::size_t at = 0; at + kBlock <= archive.size();) {
    const std::string_view header = archive.substr(at, kBlock);
    // A block of zeros ends the archive.
    if (header.find_first_not_of('\0') == std::string_view::npos) return out;
    const auto size = size_in(header);
    if (!size || !header.substr(kMagicAt).starts_with("ustar") || *size > archive.size() - at - kBlock)
      return std::nullopt;
    const std::string prefix(field(header, kPrefixAt, kPrefixLength));
    std::string name = (prefix.empty() ? "" : prefix + "/") + std::string(field(header, 0, kNameLength));
    if (name.starts_with("./")) name.erase(0, 2);
    const char kind = header[kKindAt];
    if (kind == '0' || kind == '\0') {
      if (!is_plain(name) || out.size() == most) return std::nullopt;
      out.push_back({std::move(name), archive.substr(at + kBlock, *size)});
      // Folders and further attributes of pax are skipped.
    } else if (kind != '5' && kind != 'x' && kind != 'g') {
      return std::nullopt;
    }
    // The next header starts at a multiple of the block size.
    at += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
  }
  return std::nullopt;
}

std::optional<std::string_view> packed_file(std::string_view path) {
  if (!is_packed_path(path)) return std::nullopt;
  const auto found = packed_files().find(path);
  return found == packed_files().end() ? std::nullopt : std::optional(found->second);
}

bool is_file_there(const std::string& path) {
  std::error_code ignored;
  return is_packed_path(path) ? packed_file(path).has_value() : fs::exists(path, ignored);
}

std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
  // The archive's index lists files of all folders.
  std::vector<std::string> out;
  if (is_packed_path(folder)) {
    for (const auto& [path, text] : packed_files())
      if (path.ends_with(ending) && fs::path(path).parent_path() == folder) out.push_back(path);
    return out;
  }
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
    if (it->path().extension() == ending) out.push_back(it->path().string());
  return out;
}

}  // namespace foretrain
