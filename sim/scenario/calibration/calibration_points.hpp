// The samples behind a calibration, beside what it says of them: kept in its file, for tables and drawings of
// the residuals.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

inline constexpr std::size_t kMostCalibrationPoints = 100'000;

/// Samples of one name from one file.
struct CalibrationPoints {
  struct Row {
    int line = 0;      ///< of the source; 0: none
    double bytes = 0;  ///< 0: does not depend on a size
    double measured = 0, fitted = 0;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::string what;    ///< "collective all_reduce, 8 GPUs on 1 node"
  std::string source;  ///< file
  SampleUnit unit = SampleUnit::us;
  int collective = -1;  ///< number of the [[collectives]] they belong to, from 0; -1: samples of constants
  std::vector<Row> rows;
  friend bool operator==(const CalibrationPoints&, const CalibrationPoints&) = default;
};

/// [[points]] tables, to stand behind write_calibration()'s text. Four to six significant digits.
std::string write_calibration_points(const std::vector<CalibrationPoints>& points);

/// Those of a calibration's text; none when there are none.
std::vector<CalibrationPoints> read_calibration_points(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
