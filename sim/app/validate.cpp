// validate: measurements → validation → report.
#include "sim/analysis/collective_validation.hpp"
#include "sim/analysis/validation.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/report/json.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/validation_table.hpp"
#include "sim/scenario/reader.hpp"

namespace foretrain {

void run_validate(const ValidateCommand& command) {
  const SourceText source = read_text_file(command.file, kLargestMeasurements);
  Diagnostics diagnostics(source);
  const MeasurementFile file = read_measurements(source, diagnostics);
  diagnostics.throw_if_any();
  ProgressLine progress("validating " + command.file);
  const auto show = [&progress](double done) { progress.show(done); };
  const auto write = [&](const auto& validation) {
    progress.clear();
    write_output(command.output, command.format == "json" ? write_validation_json(validation) : write_validation_table(validation));
  };
  if (file.kind == MeasurementFile::Kind::collective) return write(validate_collectives(file.collective, command.settings, show));
  write(validate(file, {.anchor = command.anchor, .settings = command.settings}, show));
}

}  // namespace foretrain
