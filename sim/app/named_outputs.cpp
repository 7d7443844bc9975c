// Every pair of outputs, and each output against what was read.
#include "sim/app/named_outputs.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

void check_outputs(const std::vector<NamedOutput>& outputs) {
  std::vector<NamedOutput> files;
  for (const NamedOutput& output : outputs) {
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
