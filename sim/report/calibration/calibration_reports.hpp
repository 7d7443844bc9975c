// A calibration as people look at it: its table, its samples, the check against them, their drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_check.hpp"
#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/report/formats.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Options of the printed calibration.
struct CalibrationTableOptions {
  std::vector<ConstantRange> known;  ///< tells the dimension of each constant
  std::size_t worst = 10;            ///< residuals that are listed
};

/// Sections without content are left out; the percentages of spreads are those of 90 % intervals.
std::string write_calibration_table(const CalibrationFit& fit, const CalibrationTableOptions& options);

// What `calibrate check` prints: held-out error before and after the fit, platform by platform.

std::string write_check_table(const CalibrationCheck& check);

/// {"schema":"foretrain.calibration_check/1", …}; errors as shares.
std::string write_check_json(const CalibrationCheck& check);

inline constexpr Format<CalibrationCheck> kCheckFormats[] = {{"table", write_check_table},
                                                             {"json", write_check_json}};

// A calibration as a drawing: measured points and fitted pieces of each collective, and how far the samples
// of constants are from the fit.

/// An SVG of its own, two panels in a row: for each of the first hundred collectives time over size, both
/// logarithmic, points measured, pieces as lines in their 90 % bands; at the end bars of the root mean square
/// of log(fitted / measured) for each kind of sample of the constants, the worst marked. Readable on light
/// and dark ground.
std::string draw_calibration(const CalibrationFit& fit);

// What was read out of measured logs: rows and samples of each file, what they say of themselves, and every
// line that was skipped.

/// files: a paragraph each; samples: with a line for each operation and job of a file.
enum class SampleListing : std::uint8_t { files, samples };

std::string list_sample_files(const std::vector<SampleFile>& files, SampleListing listing);

}  // namespace foretrain
