// What fitting a calibration to samples gives: the calibration itself, how far each sample is from it, and
// what could not be used.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Standard deviations of a 90 % interval, as printed of spreads.
inline constexpr double kDeviationsOf90 = 1.645;

/// The result of fitting samples: the calibration, residuals of every sample, and the samples that were left
/// out with reasons.
struct CalibrationFit {
  /// A sample beside what the fitted constants or segments say of it.
  struct Residual {
    std::string what;    ///< "all_reduce on 8 GPUs", "h2d pinned": samples of one name are drawn together
    std::string source;  ///< file it was read from
    int line = 0;        ///< in it; 0: none
    double bytes = 0;    ///< 0: does not depend on a size
    double measured = 0, fitted = 0;  ///< in `unit`
    SampleUnit unit = SampleUnit::us;
    int collective = -1;  ///< index into calibration.collectives; -1: a sample of constants
    friend bool operator==(const Residual&, const Residual&) = default;
  };
  struct Exclusion {
    std::string source;
    int line = 0;
    std::string why;
    friend bool operator==(const Exclusion&, const Exclusion&) = default;
  };

  Calibration calibration;
  std::vector<double> defaults;  ///< what each of calibration.constants replaces, SI; 0: it has no default
  std::vector<Residual> residuals;
  std::vector<Exclusion> left_out;
  std::vector<std::string> refused;  ///< constants that were not fitted, and why
};

}  // namespace foretrain
