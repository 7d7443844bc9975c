// Files that came with a question instead of lying on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// While one lives, the thread that made it reads no file of its machine but those below `folders` (the
/// catalogs) and those that were given, by their names: read_text_file() and what is built on it. For
/// questions of somebody else. They do not nest.
class GivenFiles {
 public:
  GivenFiles(std::vector<SourceText> files, const std::vector<std::string>& folders);
  ~GivenFiles();
  GivenFiles(const GivenFiles&) = delete;
  GivenFiles& operator=(const GivenFiles&) = delete;

  /// The one of this thread; nullptr: every file may be read.
  static const GivenFiles* current();
  /// nullptr when no such file was given.
  const SourceText* find(std::string_view name) const;
  /// Whether a path that was not given may be read.
  bool lets_read(const std::string& path) const;

 private:
  std::vector<SourceText> files_;
  std::vector<std::filesystem::path> folders_;
};

}  // namespace foretrain
