// Files below a folder that stands for "/": those of this machine, or a copy of another's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace foretrain {

/// Paths are written without the slash in front, "sys/class/net". What is missing, no file, or outside of the
/// root by a link, is empty: on a machine files come and go.
class FileTree {
 public:
  static constexpr std::size_t kMostBytes = 64 << 10, kMostEntries = 16'384;

  /// Throws InputError when there is no such folder.
  explicit FileTree(const std::string& root);

  /// Without blanks and line ends around it; at most `most` bytes of it.
  std::string text(const std::string& path, std::size_t most = kMostBytes) const;
  /// Names in a folder, sorted; at most kMostEntries.
  std::vector<std::string> entries(const std::string& path) const;
  bool has(const std::string& path) const { return !real_path(path).empty(); }
  /// Behind all links, again without the root; empty: not there.
  std::string real_path(const std::string& path) const;
  /// As people see it: with the root in front.
  std::string shown(const std::string& path) const;

 private:
  std::string root_;  ///< behind links, with a slash at its end
};

}  // namespace foretrain
