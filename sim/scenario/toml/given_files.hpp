// Files that came with a question instead of being on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// While an object of this type lives, its thread reads only files below `folders` (the catalogs) and the
/// given files, by their names. This holds for read_text_file() and everything that is built on it. It
/// protects the machine from questions of other people. Objects do not nest.
class GivenFiles {
 public:
  /// `folders` are resolved once; those that cannot be resolved are ignored.
  GivenFiles(std::vector<SourceText> files, const std::vector<std::string>& folders);
  ~GivenFiles();
  GivenFiles(const GivenFiles&) = delete;
  GivenFiles& operator=(const GivenFiles&) = delete;

  /// Returns the object of this thread; nullptr: every file may be read.
  static const GivenFiles* current();
  /// Returns the given file of that name, or nullptr.
  const SourceText* find(std::string_view name) const;
  /// Returns whether a path that was not given may be read.
  bool lets_read(const std::string& path) const;

 private:
  std::vector<SourceText> files_;
  std::vector<std::filesystem::path> folders_;
};

}  // namespace foretrain
