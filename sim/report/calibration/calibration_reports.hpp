// Reports on a calibration for people: its table, its samples, its check on held-out samples, and its
// drawing.
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
  /// Constants by name, which give the dimension of each.
  std::vector<ConstantRange> known;
  /// Number of residuals that are listed, worst first.
  std::size_t worst = 10;
};

/// Returns the table of `calibrate show` and `fit`. It has sections for constants, collectives, worst
/// residuals and exclusions; empty ones are left out. Percentages of spreads are those of 90 % intervals.
std::string write_calibration_table(const CalibrationFit& fit, const CalibrationTableOptions& options);

// Reports of `calibrate check`: held-out errors before and after the fit, for each platform.

/// Returns the table.
std::string write_check_table(const CalibrationCheck& check);

/// Returns {"schema":"foretrain.calibration_check/1", …}. Errors are shares: 0.05 is 5 %.
std::string write_check_json(const CalibrationCheck& check);

/// The formats of `calibrate check`.
inline constexpr Format<CalibrationCheck> kCheckFormats[] = {{"table", write_check_table},
                                                             {"json", write_check_json}};

// The drawing of a calibration: measured points and fitted segments of each collective, and the residuals of
// the constants' samples.

/// Returns an SVG with two panels in a row. Each of the first hundred collectives has a panel of time over
/// size with logarithmic axes: measured points, and segments as lines in their 90 % bands. At the end stand
/// bars of the root mean square of log(fitted / measured) for each kind of sample; the worst is marked. Light
/// and dark backgrounds both work.
std::string draw_calibration(const CalibrationFit& fit);

// The listing of measured logs: rows and samples of each file, the facts that it states, and every skipped
// line.

/// files: one paragraph for each file. samples: also a line for each operation and job of a file.
enum class SampleListing : std::uint8_t { files, samples };

/// Returns the listing of `calibrate samples`.
std::string list_sample_files(const std::vector<SampleFile>& files, SampleListing listing);

}  // namespace foretrain
