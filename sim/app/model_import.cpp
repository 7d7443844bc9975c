// model import: another tool's description of a network → a model file; what was assumed also on standard
// error.
#include <cstdio>

#include "sim/app/commands.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

void run_model_import(const ImportModelCommand& command) {
  SourceText source = read_text_file(command.file == "-" ? "/dev/stdin" : command.file, kLargestModelFile);
  if (command.file == "-") source.name = "standard input";
  const ImportedModel made = import_model(source, command.options);
  write_output(command.output, made.text);
  for (const std::string& remark : made.remarks)
    std::fprintf(stderr, "note: %s\n", printable_lines(remark).c_str());
}

}  // namespace foretrain
