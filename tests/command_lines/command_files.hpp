// Small files that the generated command lines name, each of a kind that some command reads.
#pragma once

#include <string>
#include <vector>

namespace foretrain::test {

/// Writes them into the working folder and returns their names, and that of an empty folder.
std::vector<std::string> write_files();

/// What a command left in the working folder.
struct LeftBehind {
  std::vector<std::string> added;    ///< new files and folders
  std::vector<std::string> changed;  ///< files of write_files() that are no longer what they were
};

/// Tells them, removes the first and writes the second anew. The folder "home" with the user's data is
/// removed as well, and not told.
LeftBehind restore_files();

}  // namespace foretrain::test
