// The files that a command line names for results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// An option and its file; "-": standard output. Empty: not given, which for -o is standard output too.
struct NamedOutput {
  std::string_view option;
  std::string file;
};

/// Throws InputError when two of them are one file, of which only the later text would stay, when two go to
/// standard output, or when one of them was read. To be called when everything is read and before anything is
/// computed.
void check_outputs(const std::vector<NamedOutput>& outputs);

}  // namespace foretrain
