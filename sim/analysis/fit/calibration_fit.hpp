// The result of fitting a calibration: the calibration itself, the residuals of all samples, and what could
// not be used.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Standard deviations of a 90 % interval, by which spreads are printed.
inline constexpr double kDeviationsOf90 = 1.645;

/// The result of fitting samples: the calibration, residuals of every sample, and the samples that were left
/// out with reasons.
struct CalibrationFit {
  /// A sample beside the value of the fitted constants or pieces.
  struct Residual {
    /// Subject, "all_reduce on 8 GPUs" or "h2d pinned"; samples of one subject are drawn together.
    std::string what;
    /// File that it was read from.
    std::string source;
    /// Line in that file; 0 if unknown.
    int line = 0;
    /// Size; 0 where the value does not depend on one.
    double bytes = 0;
    /// Values in `unit`.
    double measured = 0, fitted = 0;
    SampleUnit unit = SampleUnit::us;
    /// Index into calibration.collectives; -1 for a sample of constants.
    int collective = -1;
    friend bool operator==(const Residual&, const Residual&) = default;
  };
  /// A sample that was left out, with the reason.
  struct Exclusion {
    std::string source;
    int line = 0;
    std::string why;
    friend bool operator==(const Exclusion&, const Exclusion&) = default;
  };

  Calibration calibration;
  /// Value in SI units that each of calibration.constants replaces; 0 where it has no default.
  std::vector<double> defaults;
  std::vector<Residual> residuals;
  std::vector<Exclusion> left_out;
  /// Constants that were not fitted, with the reason.
  std::vector<std::string> refused;
};

}  // namespace foretrain
