// The files that a command line names for its results, and checks on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// An option and its file. "-" means standard output; an empty file means not given, which for -o is standard
/// output.
struct NamedOutput {
  std::string_view option;
  std::string file;
};

/// Checks the outputs of a command. Throws InputError when two name the same file, of which only the later
/// text would remain, when two go to standard output, or when one was read as an input. Call it when
/// everything is read and before anything is computed.
void check_outputs(const std::vector<NamedOutput>& outputs);

}  // namespace foretrain
