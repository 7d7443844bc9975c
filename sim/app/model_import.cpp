// model import: another tool's description of a network → a model file; what was assumed also on standard
// error.
#include <sstream>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/traces/traced_network.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Traces are read in a stream, however large they are.
ImportedModel imported(const ImportModelCommand& command) {
  const bool is_pipe = command.file == "-";
  if (!is_pipe && is_trace_file(command.file))
    return traced_network(read_trace_file(command.file), command.options);
  SourceText source = read_text_file(is_pipe ? "/dev/stdin" : command.file, kLargestModelFile);
  if (is_pipe) source.name = "standard input";
  if (!looks_like_trace(source.text)) return import_model(source, command.options);
  std::istringstream in(source.text);
  return traced_network(read_trace(in, source.name), command.options);
}

}  // namespace

void run_model_import(const ImportModelCommand& command) {
  const ImportedModel made = imported(command);
  write_output(command.output, made.text);
  for (const std::string& remark : made.remarks)
    write_message(fmt::format("note: {}\n", printable_lines(remark)));
}

}  // namespace foretrain
