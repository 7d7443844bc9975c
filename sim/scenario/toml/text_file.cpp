// Reads one file whole, within a size limit that is checked before and while reading. The files that were
// read are remembered, so that no output overwrites one of them.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sim/base/input_file.hpp"
#include "sim/scenario/toml/given_files.hpp"
#include "sim/scenario/toml/packed_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the error for a file as a diagnostic with its name and no line.
InputError refused(const std::string& path, std::string why) {
  return InputError(std::vector<Diagnostic>{{path, {}, "", std::move(why), ""}});
}

/// Identity of a file, independent of its name.
struct FileMark {
  dev_t device;
  ino_t number;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

std::optional<FileMark> mark_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileMark{status.st_dev, status.st_ino};
}

/// Returns the files that this thread has read. Threads of a sweep read catalogs, and the thread that writes
/// has read its questions.
std::vector<FileMark>& files_read() {
  thread_local std::vector<FileMark> marks;
  return marks;
}

/// Remembers a file once, because a server reads the catalogs again and again.
void remember_read(const std::string& path) {
  const auto mark = mark_of(path);
  if (mark && std::ranges::find(files_read(), *mark) == files_read().end()) files_read().push_back(*mark);
}

std::string too_large(std::size_t largest) { return fmt::format("is larger than {} bytes", largest); }

/// Returns the file of that name that came with the question, or nullptr.
const SourceText* given_file(const std::string& path) {
  const GivenFiles* given = GivenFiles::current();
  return given == nullptr ? nullptr : given->find(path);
}

/// Returns whether the disk may be read at this path.
bool may_be_read(const std::string& path) {
  const GivenFiles* given = GivenFiles::current();
  return given == nullptr || given->lets_read(path);
}

std::string size_refusal(std::uintmax_t size, std::size_t largest) {
  return size == 0 ? "is empty" : size > largest ? too_large(largest) : "";
}

/// Reserves memory for the whole file, for a large one on large pages if the system has them: faulting in
/// small pages takes longer than reading.
void reserve_for(const std::string& path, std::size_t largest, std::string& text) {
  constexpr std::size_t kLargePage = 2u << 20;
  std::error_code no_size;
  const auto size = std::filesystem::file_size(path, no_size);
  if (no_size || size > largest) return;
  text.reserve(size);
  if (size < 2 * kLargePage) return;
  const std::size_t behind = reinterpret_cast<std::uintptr_t>(text.data()) % kLargePage;
  const std::size_t before = (kLargePage - behind) % kLargePage;
  ::madvise(text.data() + before, (size - before) / kLargePage * kLargePage, MADV_HUGEPAGE);
}

}  // namespace

bool is_readable_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) return false;
  if (given_file(path) != nullptr) return true;
  if (packed_file(path)) return true;
  std::error_code problem;
  return may_be_read(path) && std::filesystem::is_regular_file(path, problem);
}

bool was_read(const std::string& path) {
  const auto mark = mark_of(path);
  return mark && std::find(files_read().begin(), files_read().end(), *mark) != files_read().end();
}

void forget_read_files() { files_read().clear(); }

std::string text_file_refusal(const std::string& path, std::size_t largest) {
  if (const SourceText* given = given_file(path)) return size_refusal(given->text.size(), largest);
  if (const auto packed = packed_file(path)) return size_refusal(packed->size(), largest);
  if (!may_be_read(path)) return "is not among the files that came with the question";
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) return "does not exist";
  if (problem == std::errc::filename_too_long) return "is longer than a file's name can be";
  if (std::filesystem::is_directory(status)) return "is a folder, not a file";
  // Pipes and devices have no size; reading finds out.
  if (!std::filesystem::is_regular_file(status)) return "";
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return "";
  return size_refusal(size, largest);
}

SourceText read_text_file(const std::string& path, std::size_t largest) {
  if (std::string why = text_file_refusal(path, largest); !why.empty()) throw refused(path, std::move(why));
  if (const SourceText* given = given_file(path)) return *given;
  if (const auto packed = packed_file(path)) return {path, std::string(*packed)};
  InputFile file(path);
  SourceText source{path, std::string()};
  reserve_for(path, largest, source.text);
  std::string block(64 << 10, '\0');
  // The size on disk may be wrong or missing, so the limit holds while reading, too.
  while (source.text.size() <= largest) {
    const std::size_t got = file.read(block.data(), block.size());
    if (got == 0) break;
    source.text.append(block, 0, got);
  }
  if (source.text.size() > largest) throw refused(path, too_large(largest));
  if (source.text.empty()) throw refused(path, "is empty");
  remember_read(path);
  return source;
}

}  // namespace foretrain
