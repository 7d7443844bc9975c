// validate: arguments → opened measurements → request → validation → report → output.
#include <algorithm>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/kernel_validation.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/names.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/validation/validation_catalog.hpp"
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

/// Kernels run on one GPU, by themselves.
void refuse_trainings_options(const ValidateCommand& command) {
  if (command.gpus.empty() && command.settings.empty() && command.worst == 0 && command.provenance.empty())
    return;
  throw InputError(
      command.file + " holds kernels, where --gpus, --set, --worst and --provenance have no effect",
      "they are for files of training runs");
}

/// "gpu,model" for each table.
std::vector<GroupKeys> group_keys_of(const ValidateCommand& command,
                                     const std::vector<std::string>& known_keys) {
  std::vector<GroupKeys> tables;
  for (const std::string& text : command.by) {
    GroupKeys& keys = tables.emplace_back();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      keys.push_back(text.substr(begin, end - begin));
      begin = end + 1;
      const std::string known = spelt_alike(keys.back(), known_keys);
      if (known.empty())
        throw InputError("--by: no row has a \"" + keys.back().substr(0, 40) + "\"",
                         did_you_mean(keys.back(), known_keys));
      keys.back() = known;
    }
  }
  return tables;
}

/// The rules of a file, each text of which is looked for in series and sources; none without a file.
Provenance provenance_of(const std::string& file) {
  if (file.empty()) return {};
  return read_or_throw(read_text_file(file, kLargestProvenance), read_provenance);
}

ValidationOptions options_of(const ValidateCommand& command) {
  return {.anchor = command.anchor,
          .settings = command.settings,
          .gpus = command.gpus,
          .provenance = provenance_of(command.provenance)};
}

std::string validated_collectives(const ValidateCommand& command, const MeasurementFile& file) {
  ProgressLine progress("validating " + command.file);
  const CollectiveValidation validation = validate_collectives(
      file.collective, command.settings, [&progress](double done) { progress.show(done); });
  return find_row(kValidationReports, command.format)->write_collectives(validation);
}

std::string validated_kernels(const ValidateCommand& command, const MeasurementFile& file,
                              const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  const KernelValidation validation =
      validate_kernels(file.kernels, [&progress](double done) { progress.show(done); });
  return find_row(kValidationReports, command.format)->write_kernels(validation, groups);
}

std::string validated_training(const ValidateCommand& command, const MeasurementFile& file,
                               const ValidationOptions& options, const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  const Validation validation = validate(file, options, [&progress](double done) { progress.show(done); });
  return find_row(kValidationReports, command.format)->write(validation, {groups, command.worst});
}

}  // namespace

void run_validate(const ValidateCommand& command) {
  using Kind = MeasurementFile::Kind;
  const MeasurementFile file =
      read_or_throw(read_text_file(command.file, kLargestMeasurements), read_measurements);
  const bool has_kernels = file.kind == Kind::kernels;
  const std::vector<GroupKeys> groups =
      group_keys_of(command, has_kernels ? kernel_group_keys() : error_group_keys());
  const ValidationOptions options = options_of(command);
  check_outputs({{"-o", command.output}});
  if (file.kind == Kind::collective) refuse_selection(command);
  if (has_kernels) refuse_trainings_options(command);
  std::string text;
  if (file.kind == Kind::collective) text = validated_collectives(command, file);
  if (file.kind == Kind::scaling) text = validated_training(command, file, options, groups);
  if (has_kernels) text = validated_kernels(command, file, groups);
  write_output(command.output, text);
}

}  // namespace foretrain
