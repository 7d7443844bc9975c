// The command model import: turns another tool's description of a network into a model file. The file goes to
// -o or standard output; assumptions go to standard error as notes and also stand in the file.
//
// `foretrain model import FILE -o mine.toml` ends with exit code 1 when no reader accepts the file, or when
// the reader finds a mistake in it.
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

/// Reads the file and imports the network. A trace of a profiler is read as a stream, so that its size does
/// not matter.
ImportedModel imported(const ImportModelCommand& command) {
  const bool is_pipe = command.file == "-";
  if (!is_pipe && is_trace_file(command.file))
    return traced_network(read_trace_file(command.file), command.options);
  SourceText source = read_text_file(is_pipe ? "/dev/stdin" : command.file, kLargestModelFile);
  if (is_pipe) source.name = "standard input";
  // A pipe can only be recognised by its content.
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
