// validate: measurements → validation → report.
#include <algorithm>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/names.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/validation/validation_table.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// A file of collectives has series that are not rows of training runs.
void refuse_selection(const ValidateCommand& command) {
  if (command.gpus.empty() && command.by.empty() && command.worst == 0 && command.provenance.empty()) return;
  throw InputError(
      command.file + " holds collectives, where --gpus, --by, --worst and --provenance have no effect",
      "they are for files of training runs");
}

/// "gpu,model" for each table.
std::vector<GroupKeys> group_keys_of(const ValidateCommand& command) {
  std::vector<GroupKeys> tables;
  for (const std::string& text : command.by) {
    GroupKeys& keys = tables.emplace_back();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      keys.push_back(text.substr(begin, end - begin));
      begin = end + 1;
      if (std::ranges::count(error_group_keys(), keys.back()) == 0)
        throw InputError("--by: no row has a \"" + keys.back().substr(0, 40) + "\"",
                         did_you_mean(keys.back(), error_group_keys()));
    }
  }
  return tables;
}

/// The rules of a file, each text of which is looked for in series and sources; none without a file.
Provenance provenance_of(const std::string& file) {
  if (file.empty()) return {};
  const SourceText source = read_text_file(file, kLargestProvenance);
  Diagnostics diagnostics(source);
  Provenance provenance = read_provenance(source, diagnostics);
  diagnostics.throw_if_any();
  return provenance;
}

}  // namespace

void run_validate(const ValidateCommand& command) {
  const std::vector<GroupKeys> groups = group_keys_of(command);
  const SourceText source = read_text_file(command.file, kLargestMeasurements);
  Diagnostics diagnostics(source);
  const MeasurementFile file = read_measurements(source, diagnostics);
  diagnostics.throw_if_any();
  const Provenance provenance = provenance_of(command.provenance);
  check_outputs({{"-o", command.output}});
  ProgressLine progress("validating " + command.file);
  const auto show = [&progress](double done) { progress.show(done); };
  const bool json = command.format == "json";
  std::string text;
  if (file.kind == MeasurementFile::Kind::collective) {
    refuse_selection(command);
    const CollectiveValidation validation = validate_collectives(file.collective, command.settings, show);
    text = json ? write_validation_json(validation) : write_validation_table(validation);
  } else {
    const ValidationOptions options{.anchor = command.anchor,
                                    .settings = command.settings,
                                    .gpus = command.gpus,
                                    .provenance = provenance};
    const Validation validation = validate(file, options, show);
    text = json ? write_validation_json(validation, groups)
                : write_validation_table(validation, {groups, command.worst});
  }
  progress.clear();
  write_output(command.output, text);
}

}  // namespace foretrain
