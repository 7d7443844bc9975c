// Compares every pair of outputs, and each output with the files that were read.
#include "sim/app/named_outputs.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns true when this output goes to standard output: for "-", and for a report without -o.
bool is_standard_output(const NamedOutput& output) {
  return output.file == "-" || (output.file.empty() && output.option == "-o");
}

/// Returns the output's name in a message.
std::string_view name_of(const NamedOutput& output) {
  return output.file.empty() ? "the report" : output.option;
}

/// Throws InputError: two texts on one stream could not be told apart.
void refuse_mixture(const NamedOutput& first, const NamedOutput& second) {
  throw InputError(fmt::format("{} and {} would both go to standard output", name_of(first), name_of(second)),
                   first.file.empty() || second.file.empty()
                       ? "-o FILE puts the report into a file; -o /dev/null drops it"
                       : "give one of them a file");
}

}  // namespace

// Files are compared by what they are, not by their names, so that links are recognised.
void check_outputs(const std::vector<NamedOutput>& outputs) {
  std::vector<NamedOutput> files;
  const NamedOutput* printed = nullptr;
  for (const NamedOutput& output : outputs) {
    if (is_standard_output(output)) {
      if (printed != nullptr) refuse_mixture(*printed, output);
      printed = &output;
    }
    if (output.file.empty() || output.file == "-") continue;
    if (was_read(output.file))
      throw InputError(fmt::format("{} {} was read and would be overwritten", output.option, output.file),
                       "write to another file");
    for (const NamedOutput& other : files) {
      if (is_same_output(output.file, other.file))
        throw InputError(fmt::format("{} and {} both write {}", other.option, output.option, output.file),
                         "give each its own file");
    }
    files.push_back(output);
  }
}

}  // namespace foretrain
