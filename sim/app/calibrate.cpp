// The commands calibrate fit, show, samples and check. `fit` reads logs, fits the constants of a cluster and
// writes a calibration file. `show` prints what a calibration rests on. `samples` prints the rows that were
// read from logs. `check` scores how well a calibration predicts samples that it was not fitted to.
//
// `foretrain calibrate fit LOG… --cluster NAME -o mine.toml` writes the calibration and prints the table of
// report/calibration/calibration_table.cpp. Mistakes in the logs end the command with exit code 1, after all
// of them are listed.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/fit/calibration_check.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/fitted_files.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/machines/machine.hpp"
#include "sim/import/sample_log.hpp"
#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_points.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Reads all files of the command. Throws one InputError with the mistakes of all files at once.
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

/// Returns measured and fitted values of a calibration file's points, one residual for each row.
std::vector<CalibrationFit::Residual> residuals_of(const std::vector<CalibrationPoints>& points) {
  std::vector<CalibrationFit::Residual> residuals;
  for (const CalibrationPoints& group : points) {
    for (const CalibrationPoints::Row& row : group.rows)
      residuals.push_back({group.what, group.source, row.line, row.bytes, row.measured, row.fitted,
                           group.unit, group.collective});
  }
  return residuals;
}

/// Returns a calibration file as a fit, so that the same table serves `fit` and `show`.
CalibrationFit read_fit(const SourceText& source, Diagnostics& diagnostics) {
  CalibrationFit fit;
  fit.calibration = read_calibration(source, diagnostics);
  fit.residuals = residuals_of(read_calibration_points(source, diagnostics));
  return fit;
}

/// Clears the collective's index where a point belongs to a collective that the file does not have.
CalibrationFit with_known_collectives(CalibrationFit fit) {
  const auto beyond = static_cast<int>(fit.calibration.collectives.size());
  for (CalibrationFit::Residual& residual : fit.residuals)
    residual.collective = residual.collective < beyond ? residual.collective : -1;
  return fit;
}

/// Returns what the table needs: units of the constants, and how many of the worst residuals are listed.
CalibrationTableOptions table_options(const CalibrateCommand& command) {
  return {calibratable_constants(), static_cast<std::size_t>(std::max(0, command.worst))};
}

/// Throws InputError when a log names another GPU than the cluster has: its constants would be wrong there.
void refuse_other_gpus(const std::vector<SampleFile>& files, const ClusterSpec& cluster) {
  std::vector<Diagnostic> mistakes;
  for (const SampleFile& file : files) {
    for (const auto& [key, value] : file.provenance) {
      if (key != "gpu" || !are_different_products(value, cluster.node.gpu.name)) continue;
      mistakes.push_back({file.file,
                          {},
                          "",
                          fmt::format("it was measured on {}, and {} has {}", printable(shortened(value, 60)),
                                      cluster.name, cluster.node.gpu.name),
                          "--cluster names the machine that it was measured on"});
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace

// The calibration alone goes to standard output without -o; with -o FILE the table of residuals is printed
// too. Outputs are checked before the fit, so that a long fit does not end at a file that cannot be written.
void run_calibrate_fit(const CalibrateCommand& command) {
  const std::vector<SampleFile> files = read_samples(command);
  const ClusterSpec cluster = open_uncalibrated_cluster(command.cluster);
  refuse_other_gpus(files, cluster);
  const bool prints_table = !command.output.empty() && command.output != "-";
  check_outputs({{"-o", command.output}, {"--svg", command.svg}, {"the table", prints_table ? "-" : ""}});
  ProgressLine progress("fitting");
  const auto [fit, text] =
      fit_files(files, cluster, command.description, [&progress](double done) { progress.show(done); });
  progress.clear();
  if (!command.svg.empty()) write_file(command.svg, draw_calibration(fit));
  // The output without -o is the calibration alone, so that it can be piped into a file.
  if (!prints_table) return write_output("", text);
  write_file(command.output, text);
  write_output("", list_sample_files(files, SampleListing::files) + "\n" +
                       write_calibration_table(fit, table_options(command)));
}

// The calibration may come from the catalog or from a file.
void run_calibrate_show(const CalibrateCommand& command) {
  const CalibrationFit fit =
      with_known_collectives(open_value(CatalogKind::calibrations, command.files.front(), read_fit));
  check_outputs({{"-o", command.output}, {"--svg", command.svg}});
  if (!command.svg.empty()) write_file(command.svg, draw_calibration(fit));
  write_output(command.output, write_calibration_table(fit, table_options(command)));
}

// CSV output can be edited and given back to `fit`; the listing is for people.
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

// Samples are held out by --hold-out, fitted without, and then predicted.
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
