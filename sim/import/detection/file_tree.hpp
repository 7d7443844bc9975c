// Reads files below a folder that stands for "/": those of this machine, or a copy of another's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace foretrain {

/// A tree of files. Paths are written without the slash in front, as in "sys/class/net".
/// What is missing, is no plain file, or lies outside of the root behind a link reads as empty, because files
/// of a machine come and go.
/// The object holds no open files; its methods may be called from several threads.
class FileTree {
 public:
  /// Default limits: bytes of one file, and entries of one folder.
  static constexpr std::size_t kMostBytes = 64 << 10, kMostEntries = 16'384;

  /// Opens the tree. Throws InputError when `root` is no folder.
  explicit FileTree(const std::string& root);

  /// Returns the text of a file up to `most` bytes and up to the first NUL, without blanks and line ends
  /// around it.
  std::string text(const std::string& path, std::size_t most = kMostBytes) const;
  /// Returns the names in a folder, sorted; at most kMostEntries of them, and none when the folder cannot be
  /// read.
  std::vector<std::string> entries(const std::string& path) const;
  /// Says whether the path exists within the root.
  bool has(const std::string& path) const { return !real_path(path).empty(); }
  /// Returns the path behind all links, again without the root; empty when it does not exist or leaves the
  /// root.
  std::string real_path(const std::string& path) const;
  /// Returns the path as people know it, with the root in front.
  std::string shown(const std::string& path) const;

 private:
  /// Canonical path of the root, with a slash at its end.
  std::string root_;
};

}  // namespace foretrain
