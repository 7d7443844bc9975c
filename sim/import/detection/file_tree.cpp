// A copy of a tree is written by others and is not trusted: links are followed only inside of it, and only
// plain files are read.
#include "sim/import/detection/file_tree.hpp"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// A file opened for reading, which is closed at the end of its life.
class ReadFile {
 public:
  // O_NONBLOCK keeps a pipe from blocking until somebody writes to it; O_NOCTTY keeps a terminal from
  // becoming the controlling one.
  explicit ReadFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~ReadFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  /// Says whether the file was opened and is a regular file. The open file is asked, so that it cannot be
  /// exchanged after the check.
  bool is_plain() const {
    struct stat status {};
    return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }
  /// Reads up to `most` bytes. The sizes that sysfs shows mean nothing, so reading goes on until the end.
  std::string text(std::size_t most) const {
    std::string out(most, '\0');
    std::size_t length = 0;
    while (length < most) {
      const ssize_t count = ::read(descriptor_, out.data() + length, most - length);
      if (count <= 0) break;
      length += static_cast<std::size_t>(count);
    }
    out.resize(length);
    return out;
  }

 private:
  int descriptor_;
};

}  // namespace

FileTree::FileTree(const std::string& root) {
  std::error_code error;
  root_ = fs::canonical(root, error).string();
  if (error || !fs::is_directory(root_, error))
    throw InputError(root + ": no such folder", "the folder that holds sys/ and proc/ of the other machine");
  if (!root_.ends_with('/')) root_ += '/';
}

std::string FileTree::real_path(const std::string& path) const {
  std::error_code error;
  const std::string real = fs::canonical(root_ + path, error).string();
  // canonical() follows every link; a target outside of the root no longer begins with it.
  return !error && real.starts_with(root_) ? real.substr(root_.size()) : "";
}

std::string FileTree::text(const std::string& path, std::size_t most) const {
  const std::string real = real_path(path);
  if (real.empty()) return "";
  const ReadFile file(root_ + real);
  if (!file.is_plain()) return "";
  std::string text = file.text(most);
  // Archives such as tar may fill a file of unknown size with zeros.
  text.resize(std::min(text.find('\0'), text.size()));  // tar fills up with zeros
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return std::string(trimmed(text));
}

std::vector<std::string> FileTree::entries(const std::string& path) const {
  std::vector<std::string> names;
  const std::string real = real_path(path);
  std::error_code error;
  if (real.empty()) return names;
  fs::directory_iterator entry(root_ + real, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < kMostEntries; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string FileTree::shown(const std::string& path) const { return root_ + path; }

}  // namespace foretrain
