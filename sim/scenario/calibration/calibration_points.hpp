// The samples behind a calibration, kept in its file for tables and drawings of the residuals.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Largest number of points of a file.
inline constexpr std::size_t kMostCalibrationPoints = 100'000;

/// Samples of one name from one file.
struct CalibrationPoints {
  struct Row {
    /// Line in the source; 0: none.
    int line = 0;
    /// Bytes; 0: the sample does not depend on a size.
    double bytes = 0;
    /// Values in `unit`.
    double measured = 0, fitted = 0;
    friend bool operator==(const Row&, const Row&) = default;
  };
  /// Name such as "collective all_reduce, 8 GPUs on 1 node".
  std::string what;
  /// File of the samples.
  std::string source;
  SampleUnit unit = SampleUnit::us;
  /// Number of their [[collectives]] table, from 0; -1: samples of constants.
  int collective = -1;
  std::vector<Row> rows;
  friend bool operator==(const CalibrationPoints&, const CalibrationPoints&) = default;
};

/// Returns [[points]] tables, to be appended to the text of write_calibration(). Values have six significant
/// digits.
std::string write_calibration_points(const std::vector<CalibrationPoints>& points);

/// Reads the points of a calibration's text; empty when there are none.
std::vector<CalibrationPoints> read_calibration_points(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
