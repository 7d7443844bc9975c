// Small files that the generated command lines name, each of a kind that some command reads.
#pragma once

#include <string>
#include <vector>

namespace foretrain::test {

/// Writes them into the working folder and returns their names, and that of an empty folder.
std::vector<std::string> write_files();

/// Removes whatever a command wrote and writes anew the files that it changed. Returns which of them a
/// command had changed without being told to, in words; empty when none.
std::string restore_files();

}  // namespace foretrain::test
