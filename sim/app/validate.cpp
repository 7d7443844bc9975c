// validate: measurements → validation → report.
#include <fmt/format.h>

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
  if (file.kind == MeasurementFile::Kind::collective) {
    throw InputError(fmt::format("{}: this version validates scaling measurements only, not collective times", command.file),
                     "a scaling file has the columns series,model,cluster,strategy,…");
  }
  ProgressLine progress("validating " + command.file);
  const Validation validation =
      validate(file, {.anchor = command.anchor, .settings = command.settings}, [&progress](double done) { progress.show(done); });
  progress.clear();
  write_output(command.output, command.format == "json" ? write_validation_json(validation) : write_validation_table(validation));
}

}  // namespace foretrain
