// The command validate: predicts measured rows and prints the errors. The kind of row (training runs,
// collectives, kernels, large models, fine-tunings) follows from the columns of the file, and each kind has a
// validation and a report of its own. Options without effect on a kind are refused, so that nobody believes
// that they had one.
//
// `foretrain validate measured.csv` prints error statistics first and then every series (report/validation).
// Rows that cannot be predicted are listed as skipped. A file of which no row is scored ends it with exit
// code 1.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/fine_tuning_validation.hpp"
#include "sim/analysis/validation/kernel_validation.hpp"
#include "sim/analysis/validation/large_model_validation.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/names.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/validation/validation_catalog.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

// An option, and whether the command line has it.
struct GivenOption {
  std::string_view name;
  bool is_given;
};

/// Throws InputError for options that are given and have no effect. `where` is the start of the message.
void refuse_given(const std::string& where, std::initializer_list<GivenOption> options,
                  const std::string& hint) {
  std::vector<std::string_view> given;
  for (const GivenOption& option : options) {
    if (option.is_given) given.push_back(option.name);
  }
  if (given.empty()) return;
  const std::string_view last = given.back();
  given.pop_back();
  const std::string names = given.empty() ? fmt::format("{} has", last)
                                          : fmt::format("{} and {} have", fmt::join(given, ", "), last);
  throw InputError(fmt::format("{}, where {} no effect", where, names), hint);
}

/// Refuses options that select training runs, for a file of collectives.
void refuse_selection(const ValidateCommand& command) {
  refuse_given(command.file + " holds collectives",
               {{"--gpus", !command.gpus.empty()},
                {"--by", !command.by.empty()},
                {"--worst", command.worst != 0},
                {"--provenance", !command.provenance.empty()}},
               "leave that out: it is for files of training runs");
}

/// Refuses options that only training runs have, for a file of kernels. A kernel is measured alone on one
/// GPU.
void refuse_trainings_options(const ValidateCommand& command) {
  refuse_given(command.file + " holds kernels",
               {{"--gpus", !command.gpus.empty()},
                {"--set", !command.settings.empty()},
                {"--worst", command.worst != 0},
                {"--leave-out", !command.leave_out.empty()},
                {"--provenance", !command.provenance.empty()}},
               "leave that out: it is for files of training runs");
}

/// Returns the keys of each --by, such as "gpu,model": one table of errors for each. Throws InputError for an
/// unknown key.
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

/// Returns the rules of --provenance about words in series and sources; none without a file.
Provenance provenance_of(const std::string& file) {
  if (file.empty()) return {};
  return read_or_throw(read_text_file(file, kLargestProvenance), read_provenance);
}

/// Returns the options of the validation. Format `cases` needs the features of each interval.
ValidationOptions options_of(const ValidateCommand& command) {
  return {.anchor = command.anchor,
          .settings = command.settings,
          .gpus = command.gpus,
          .provenance = provenance_of(command.provenance),
          .evidence = command.format == "cases"};
}

/// Writes the page of --html, which draws the JSON report.
void write_page_of(const ValidateCommand& command, const std::string& report) {
  if (!command.html.empty()) write_file(command.html, write_page({"validation", {report}, {}, command.made}));
}

/// Throws InputError when no row was scored: an empty result must not look like success.
void refuse_nothing(const std::string& file, int rows, int scored, const std::vector<SkippedRow>& skipped) {
  if (scored > 0) return;
  throw InputError(fmt::format("none of the {} of {} is scored", counted(rows, "row"), file),
                   skipped.empty() ? "--no-anchor predicts the first row of each series, too"
                                   : fmt::format("line {}: {}", skipped.front().row, skipped.front().why));
}

/// Predicts the collectives of the file and returns the report.
std::string validated_collectives(const ValidateCommand& command, const MeasurementFile& file) {
  ProgressLine progress("validating " + command.file);
  const CollectiveValidation validation = validate_collectives(
      file.collective, command.settings, [&progress](double done) { progress.show(done); });
  refuse_nothing(command.file, validation.rows, validation.scored, validation.skipped);
  write_page_of(command, write_validation_json(validation));
  return find_row(kValidationReports, command.format)->write_collectives(validation);
}

/// Predicts the kernels of the file and returns the report, with a table of errors for each entry of
/// `groups`.
std::string validated_kernels(const ValidateCommand& command, const MeasurementFile& file,
                              const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  const KernelValidation validation =
      validate_kernels(file.kernels, [&progress](double done) { progress.show(done); });
  refuse_nothing(command.file, validation.rows, validation.scored, validation.skipped);
  write_page_of(command, write_kernel_json(validation, groups));
  return find_row(kValidationReports, command.format)->write_kernels(validation, groups);
}

/// Returns the clusters of --cluster-of, each of which is spelled GPU=CLUSTER.
ClusterOfGpu clusters_of(const ValidateCommand& command) {
  ClusterOfGpu clusters;
  for (const std::string& text : command.cluster_of) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InputError("--cluster-of " + text.substr(0, 60) + " is not GPU=CLUSTER",
                       "as in --cluster-of H100-80GB-SXM=aws-p5");
    clusters[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return clusters;
}

/// Predicts the steps of large models and returns the report. Lines that could not be read count as skipped
/// rows.
std::string validated_large_models(const ValidateCommand& command, const MeasurementFile& file,
                                   const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  LargeModelValidation validation = validate_large_models(
      file.large_models, {clusters_of(command), provenance_of(command.provenance), command.anchor},
      [&progress](double done) { progress.show(done); });
  for (const auto& [line, why] : file.unread) validation.skipped.push_back({line, why});
  validation.rows += static_cast<int>(file.unread.size());
  // A row counts when it is predicted without its own measurement and has a time, a memory size or a verdict
  // on fitting.
  const auto scored = std::ranges::count_if(validation.points, [](const ValidatedLargeModel& point) {
    return !point.is_anchor && (point.row->step_s > 0 || point.row->memory_gb > 0 || point.row->fits);
  });
  refuse_nothing(command.file, validation.rows, static_cast<int>(scored), validation.skipped);
  return find_row(kValidationReports, command.format)->write_large_models(validation, groups);
}

/// Predicts fine-tunings and returns the report.
std::string validated_fine_tunings(const ValidateCommand& command, const MeasurementFile& file,
                                   const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  const FineTuningValidation validation =
      validate_fine_tunings(file.fine_tunings, [&progress](double done) { progress.show(done); });
  refuse_nothing(command.file, validation.rows, static_cast<int>(validation.points.size()),
                 validation.skipped);
  return find_row(kValidationReports, command.format)->write_fine_tunings(validation, groups);
}

/// Refuses options that do not apply to fine-tunings, whose rows are complete by themselves.
void refuse_for_fine_tunings(const ValidateCommand& command) {
  refuse_given(command.file + " holds fine-tunings",
               {{"--gpus", !command.gpus.empty()},
                {"--set", !command.settings.empty()},
                {"--worst", command.worst != 0},
                {"--leave-out", !command.leave_out.empty()},
                {"--provenance", !command.provenance.empty()},
                {"--html", !command.html.empty()}},
               "leave that out: each row says what was trained");
}

/// Refuses options that do not apply to large models: their rows state all degrees, and there is no page for
/// them.
void refuse_for_large_models(const ValidateCommand& command) {
  refuse_given(command.file + " holds steps of large models",
               {{"--gpus", !command.gpus.empty()},
                {"--set", !command.settings.empty()},
                {"--worst", command.worst != 0},
                {"--leave-out", !command.leave_out.empty()},
                {"--html", !command.html.empty()}},
               "--provenance and --cluster-of say what rows do not");
}

/// Predicts training runs and returns the report.
std::string validated_training(const ValidateCommand& command, const MeasurementFile& file,
                               const ValidationOptions& options, const std::vector<GroupKeys>& groups) {
  ProgressLine progress("validating " + command.file);
  const Validation validation = validate(file, options, [&progress](double done) { progress.show(done); });
  refuse_nothing(command.file, validation.rows, validation.scored, validation.skipped);
  write_page_of(command, write_validation_json(validation, groups));
  return find_row(kValidationReports, command.format)->write(validation, {groups, command.worst});
}

/// Returns the part of the table that --quiet asks for: the statistics, which end at the first empty line.
std::string requested_part(const ValidateCommand& command, std::string report) {
  const std::size_t end = report.find("\n\n");
  if (command.quiet && command.format == "table" && end != std::string::npos) report.resize(end + 1);
  return report;
}

MeasurementFile measurements_of(const std::string& file) {
  return read_or_throw(read_text_file(file, kLargestMeasurements), read_measurements);
}

/// Appends the rows of a second file. Their line numbers continue behind those of the first, so that each
/// line is unique.
void append(MeasurementFile& file, const MeasurementFile& more, const std::string& name) {
  if (more.kind != file.kind)
    throw InputError(name + " holds rows of another kind", "--with takes a file of the same columns");
  int last = 0;
  for (const Measurement& m : file.scaling) last = std::max(last, m.line);
  for (Measurement m : more.scaling) m.line += last, file.scaling.push_back(std::move(m));
  file.collective.insert(file.collective.end(), more.collective.begin(), more.collective.end());
}

/// Returns the report of --leave-out: each group is predicted with constants that were fitted without its
/// rows.
std::string left_out(const ValidateCommand& command, MeasurementFile file, const ValidationOptions& options) {
  refuse_given("--leave-out has tables of its own",
               {{"--by", !command.by.empty()}, {"--worst", command.worst > 0}},
               "leave that out, or ask without --leave-out");
  if (command.format == "cases")
    throw InputError("--leave-out has no cases", "--format cases is without it; table and json are with it");
  if (file.kind == MeasurementFile::Kind::collective) refuse_selection(command);
  if (!command.with.empty()) append(file, measurements_of(command.with), command.with);
  ProgressLine progress("leaving out each " + command.leave_out);
  const Progress show = [&progress](double done) { progress.show(done); };
  // The option accepts only names of the table, so the index is that of the enum value.
  const auto by =
      static_cast<HoldOutUnit>(std::ranges::find(kLeftOutNames, command.leave_out) - kLeftOutNames.begin());
  const LeaveOneOut scores = file.kind == MeasurementFile::Kind::collective
                                 ? leave_one_out(file.collective, by, command.settings, show)
                                 : leave_one_out(file, by, options, show);
  return find_row(kLeftOutReports, command.format)->write(scores);
}

void refuse_without_leave_out(const ValidateCommand& command) {
  if (!command.with.empty()) throw InputError("--with needs --leave-out", "one file at a time is validated");
}

}  // namespace

// Checks come first, in the order file, options, outputs, because some options depend on the kind of rows.
void run_validate(const ValidateCommand& command) {
  using Kind = MeasurementFile::Kind;
  if (command.leave_out.empty()) refuse_without_leave_out(command);
  const MeasurementFile file = measurements_of(command.file);
  const bool has_kernels = file.kind == Kind::kernels, has_large = file.kind == Kind::large_models;
  const bool has_tunings = file.kind == Kind::fine_tunings;
  const std::vector<GroupKeys> groups = group_keys_of(command, has_tunings   ? fine_tuning_keys()
                                                               : has_large   ? large_model_keys()
                                                               : has_kernels ? kernel_group_keys()
                                                                             : error_group_keys());
  if (has_large) refuse_for_large_models(command);
  if (has_tunings) refuse_for_fine_tunings(command);
  if (!has_large && !command.cluster_of.empty())
    throw InputError("--cluster-of is for rows of large models", command.file + " holds others");
  const ValidationOptions options = options_of(command);
  check_outputs({{"-o", command.output}, {"--html", command.html}});
  if (!command.html.empty() && !command.leave_out.empty())
    throw InputError("--html shows no --leave-out", "ask for the page without it");
  if (file.kind == Kind::collective && command.leave_out.empty()) refuse_selection(command);
  if (has_kernels) refuse_trainings_options(command);
  std::string text;
  if (!command.leave_out.empty())
    text = left_out(command, file, options);
  else if (has_tunings)
    text = validated_fine_tunings(command, file, groups);
  else if (has_large)
    text = validated_large_models(command, file, groups);
  else if (has_kernels)
    text = validated_kernels(command, file, groups);
  else if (file.kind == Kind::collective)
    text = validated_collectives(command, file);
  else
    text = validated_training(command, file, options, groups);
  write_report(command.output, command.format, requested_part(command, std::move(text)));
}

}  // namespace foretrain
