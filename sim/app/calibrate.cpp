// calibrate: logs → samples → calibration → file; or what a calibration rests on, or how well one predicts
// what it has not seen.
#include "sim/analysis/fit/calibrate.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <tuple>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sim/analysis/fit/calibration_check.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/import/sample_log.hpp"
#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_points.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Mistakes of all files at once.
std::vector<SampleFile> read_samples(const CalibrateCommand& command) {
  std::vector<SampleFile> files;
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : command.files) {
    try {
      files.push_back(read_sample_file(name, command.hints));
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return files;
}

/// With the file's name where the sample does not say where it was published.
std::vector<Sample> all_of(const std::vector<SampleFile>& files) {
  std::vector<Sample> samples;
  std::size_t count = 0;
  for (const SampleFile& file : files) count += file.samples.size();
  samples.reserve(count);
  for (const SampleFile& file : files) {
    for (const Sample& sample : file.samples) samples.emplace_back(sample).source = file.file;
  }
  return samples;
}

/// What the files say of themselves, the first of each key; files and the day of the fit.
Settings provenance_of(const std::vector<SampleFile>& files) {
  Settings provenance;
  const auto state = [&](const std::string& key, const std::string& value) {
    const bool known = std::ranges::any_of(provenance, [&](const auto& fact) { return fact.first == key; });
    if (!known && !value.empty()) provenance.emplace_back(key, value);
  };
  std::vector<std::string> names;
  for (const SampleFile& file : files) {
    for (const auto& [key, value] : file.provenance) state(key, value);
    names.push_back(
        fmt::format("{} ({}, {})", file.file, file.format, counted(std::ssize(file.samples), "sample")));
  }
  state("files", fmt::format("{}", fmt::join(names, "; ")));
  state("fitted",
        fmt::format("{:%Y-%m-%d}",
                    fmt::gmtime(std::time(nullptr))));  // the day of UTC, wherever the machine stands
  return provenance;
}

/// Of more samples than a file may hold, every n-th: a calibration must be small enough to be read again.
constexpr std::size_t kMostWrittenPoints = kMostCalibrationPoints / 2;

/// The samples beside the fit, for `calibrate show` and its drawing.
std::vector<CalibrationPoints> points_of(const CalibrationFit& fit) {
  std::map<std::tuple<int, std::string, std::string, SampleUnit>, CalibrationPoints> groups;
  // Evenly over all samples, so that every size keeps some.
  const std::size_t step = fit.residuals.size() / kMostWrittenPoints + 1;
  for (std::size_t i = 0; i < fit.residuals.size(); i += step) {
    const CalibrationFit::Residual& r = fit.residuals[i];
    CalibrationPoints& group = groups[{r.collective, r.what, r.source, r.unit}];
    group.what = r.what, group.source = r.source, group.unit = r.unit, group.collective = r.collective;
    group.rows.push_back({r.line, r.bytes, r.measured, r.fitted});
  }
  std::vector<CalibrationPoints> points;
  for (auto& [key, group] : groups) points.push_back(std::move(group));
  return points;
}

std::vector<CalibrationFit::Residual> residuals_of(const std::vector<CalibrationPoints>& points) {
  std::vector<CalibrationFit::Residual> residuals;
  for (const CalibrationPoints& group : points) {
    for (const CalibrationPoints::Row& row : group.rows)
      residuals.push_back({group.what, group.source, row.line, row.bytes, row.measured, row.fitted,
                           group.unit, group.collective});
  }
  return residuals;
}

CalibrationFit read_fit(const SourceText& source, Diagnostics& diagnostics) {
  CalibrationFit fit;
  fit.calibration = read_calibration(source, diagnostics);
  fit.residuals = residuals_of(read_calibration_points(source, diagnostics));
  return fit;
}

/// Points may be of collectives that the file does not have.
CalibrationFit with_known_collectives(CalibrationFit fit) {
  const auto beyond = static_cast<int>(fit.calibration.collectives.size());
  for (CalibrationFit::Residual& residual : fit.residuals)
    residual.collective = residual.collective < beyond ? residual.collective : -1;
  return fit;
}

/// Units of constants are those of the tables they come from.
CalibrationTableOptions table_options(const CalibrateCommand& command) {
  return {calibratable_constants(), static_cast<std::size_t>(std::max(0, command.worst))};
}

void refuse_empty(const CalibrationFit& fit) {
  if (!fit.calibration.empty()) return;
  const std::string why = fit.left_out.empty() ? "no sample was found" : fit.left_out.front().why;
  throw InputError("no constant could be fitted and no collective has three sizes: " + why,
                   "look at what was read with: foretrain calibrate samples FILE");
}

}  // namespace

void run_calibrate_fit(const CalibrateCommand& command) {
  const std::vector<SampleFile> files = read_samples(command);
  const ClusterSpec cluster = open_uncalibrated_cluster(command.cluster);
  const bool prints_table = !command.output.empty() && command.output != "-";
  check_outputs({{"-o", command.output}, {"--svg", command.svg}, {"the table", prints_table ? "-" : ""}});
  ProgressLine progress("fitting");
  CalibrationFit fit = calibrate(cluster, all_of(files), [&progress](double done) { progress.show(done); });
  progress.clear();
  refuse_empty(fit);
  fit.calibration.description =
      command.description.empty() ? "measured on " + cluster.name : printable(command.description);
  fit.calibration.provenance = provenance_of(files);
  const std::string text = write_calibration(fit.calibration) + write_calibration_points(points_of(fit));
  if (!command.svg.empty()) write_file(command.svg, draw_calibration(fit));
  // The calibration alone, so that it can be piped into a file.
  if (!prints_table) return write_output("", text);
  write_file(command.output, text);
  write_output("", list_sample_files(files, SampleListing::files) + "\n" +
                       write_calibration_table(fit, table_options(command)));
}

void run_calibrate_show(const CalibrateCommand& command) {
  const CalibrationFit fit =
      with_known_collectives(open_value(CatalogKind::calibrations, command.files.front(), read_fit));
  check_outputs({{"-o", command.output}, {"--svg", command.svg}});
  if (!command.svg.empty()) write_file(command.svg, draw_calibration(fit));
  write_output(command.output, write_calibration_table(fit, table_options(command)));
}

void run_calibrate_samples(const CalibrateCommand& command) {
  const std::vector<SampleFile> files = read_samples(command);
  if (command.format == "csv") {
    std::vector<Sample> samples;
    for (const SampleFile& file : files)
      samples.insert(samples.end(), file.samples.begin(), file.samples.end());
    return write_output(command.output, write_samples_csv(provenance_of(files), samples));
  }
  write_output(command.output, list_sample_files(files, SampleListing::samples));
}

void run_calibrate_check(const CalibrateCommand& command) {
  const std::vector<Sample> samples = all_of(read_samples(command));
  const bool named =
      std::ranges::all_of(samples, [](const Sample& s) { return !setting_of(s, "cluster").empty(); });
  if (command.cluster.empty() && !named)
    throw InputError("these samples do not say which cluster they are from", "name it: --cluster NAME");
  check_outputs({{"-o", command.output}});
  ProgressLine progress("checking");
  const CalibrationCheck check =
      check_calibration(platforms_of(samples, command.cluster), command.hold_out, open_uncalibrated_cluster,
                        [&progress](double done) { progress.show(done); });
  progress.clear();
  write_output(command.output, find_row(kCheckFormats, command.format)->write(check));
}

}  // namespace foretrain
