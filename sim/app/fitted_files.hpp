// A calibration, and the text of its file, from files of samples.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Returns the samples of all files. Each sample gets its file's name as its source.
std::vector<Sample> all_of(const std::vector<SampleFile>& files);

/// Returns the facts that the files state about themselves, the first statement of each key, and adds the
/// list of files and the day of the fit (UTC).
Settings provenance_of(const std::vector<SampleFile>& files);

/// A fit of sample files, and the calibration file that it makes.
struct FittedFiles {
  CalibrationFit fit;
  /// Text of the calibration file, including the samples behind the constants.
  std::string text;
};

/// Fits the constants of `cluster` to the samples. An empty description becomes "measured on CLUSTER". Throws
/// InputError when nothing could be fitted.
FittedFiles fit_files(const std::vector<SampleFile>& files, const ClusterSpec& cluster,
                      const std::string& description, const Progress& progress);

}  // namespace foretrain
