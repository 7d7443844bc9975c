// Files that came with a question. There is one pointer per thread: every reader of the program ends in
// read_text_file(), which asks for it.
#include "sim/scenario/toml/given_files.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <system_error>
#include <utility>

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Returns an absolute path without dots, symbolic links and a slash at the end, so that everything below it
/// begins with it. Returns an empty path if links cannot be followed.
fs::path plain_path(const fs::path& path) {
  std::error_code problem;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, problem), problem);
  if (problem) return {};
  return whole.has_filename() ? whole : whole.parent_path();
}

/// The object of this thread.
const GivenFiles*& files_of_thread() {
  thread_local const GivenFiles* files = nullptr;
  return files;
}

}  // namespace

GivenFiles::GivenFiles(std::vector<SourceText> files, const std::vector<std::string>& folders)
    : files_(std::move(files)) {
  for (const std::string& folder : folders) {
    if (fs::path path = plain_path(folder); !path.empty()) folders_.push_back(std::move(path));
  }
  assert(files_of_thread() == nullptr);
  files_of_thread() = this;
}

GivenFiles::~GivenFiles() { files_of_thread() = nullptr; }

const GivenFiles* GivenFiles::current() { return files_of_thread(); }

const SourceText* GivenFiles::find(std::string_view name) const {
  const auto found = std::ranges::find(files_, name, &SourceText::name);
  return found == files_.end() ? nullptr : &*found;
}

bool GivenFiles::lets_read(const std::string& path) const {
  // The system ends a path at a NUL, this check does not, so the rest could lead back into an allowed folder.
  if (path.find('\0') != std::string::npos) return false;
  const fs::path whole = plain_path(path);
  if (whole.empty()) return false;
  return std::ranges::any_of(folders_, [&whole](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first == folder.end();
  });
}

}  // namespace foretrain
