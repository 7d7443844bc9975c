// Fits a calibration to files of samples and writes the calibration's file. The fit itself is
// sim/analysis/fit; the provenance and the samples behind the constants are added here.
#include "sim/app/fitted_files.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/analysis/fit/calibrate.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/calibration/calibration_points.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"

namespace foretrain {

namespace {

// Largest number of samples in a calibration file. Of more samples every n-th is written, so that the file
// stays within the limit of its reader.
constexpr std::size_t kMostWrittenPoints = kMostCalibrationPoints / 2;

/// Returns the samples beside their fitted values, as `calibrate show` and its drawing need them.
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

/// Throws InputError, with the most informative reason, when no constant was fitted.
void refuse_empty(const CalibrationFit& fit) {
  if (!fit.calibration.empty()) return;
  const std::string why = !fit.refused.empty()     ? fit.refused.front()
                          : !fit.left_out.empty()  ? fit.left_out.front().why
                          : !fit.residuals.empty() ? "the samples say less of them than is known already"
                                                   : "no sample was found";
  throw InputError("no constant could be fitted and no collective has three sizes: " + why,
                   "look at what was read with: foretrain calibrate samples FILE");
}

}  // namespace

std::vector<Sample> all_of(const std::vector<SampleFile>& files) {
  std::vector<Sample> samples;
  std::size_t count = 0;
  for (const SampleFile& file : files) count += file.samples.size();
  // Room for all samples is reserved first, as logs can hold many.
  samples.reserve(count);
  for (const SampleFile& file : files) {
    for (const Sample& sample : file.samples) samples.emplace_back(sample).source = file.file;
  }
  return samples;
}

// Facts are kept in the order of the files, since the first statement of a key wins.
Settings provenance_of(const std::vector<SampleFile>& files) {
  Settings provenance;
  // The first statement of a key wins.
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

// The samples behind the constants are part of the file, so that `calibrate show` can compare both.
FittedFiles fit_files(const std::vector<SampleFile>& files, const ClusterSpec& cluster,
                      const std::string& description, const Progress& progress) {
  FittedFiles out{calibrate(cluster, all_of(files), progress), ""};
  refuse_empty(out.fit);
  Calibration& calibration = out.fit.calibration;
  calibration.description = description.empty() ? "measured on " + cluster.name : printable(description);
  calibration.provenance = provenance_of(files);
  out.text = write_calibration(calibration) + write_calibration_points(points_of(out.fit));
  return out;
}

}  // namespace foretrain
