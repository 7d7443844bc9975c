// What a fit gives besides the calibration: how far each sample is off, which were left out, and what physics refused.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/samples.hpp"

namespace foretrain {

/// A sample that was fitted; values in its unit.
struct FitResidual {
  std::string what;      ///< "collective all_reduce, 8 GPUs", "gemm fp16 4096x4096x4096"
  std::string unit;
  std::string source;
  int line = 0;
  double bytes = 0;      ///< 0: no size
  double measured = 0, fitted = 0;
  double before = 0;     ///< the model's value without the calibration
};

/// Why a sample was not used. `line` of `source`.
struct LeftOutSample {
  std::string source;
  int line = 0;
  std::string why;
};

struct CalibrationFit {
  Calibration calibration;
  std::vector<FitResidual> residuals;
  std::vector<LeftOutSample> left_out;
  std::vector<std::string> refused;  ///< constants that the samples ask for and physics does not allow, with the reason
};

}  // namespace foretrain
