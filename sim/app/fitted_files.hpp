// From files of samples to a calibration and the text of its file.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// The samples of all files, each with its file's name where it does not say where it was published.
std::vector<Sample> all_of(const std::vector<SampleFile>& files);

/// What the files say of themselves, the first of each key; files and the day of the fit.
Settings provenance_of(const std::vector<SampleFile>& files);

/// Sample files that a fit reads, with the format that each was recognised as.
struct FittedFiles {
  CalibrationFit fit;
  std::string text;  ///< of the calibration file, with the samples behind it
};

/// Without a description: "measured on CLUSTER". Throws InputError when nothing could be fitted.
FittedFiles fit_files(const std::vector<SampleFile>& files, const ClusterSpec& cluster,
                      const std::string& description, const Progress& progress);

}  // namespace foretrain
