// A small fitted calibration for the tests of reports: two constants, two collectives, samples near and far.
#pragma once

#include <cmath>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"

namespace foretrain::test {

inline std::vector<ConstantRange> example_constants() {
  return {{"nccl.kernel", Dimension::time, 1e-7, 1e-3, 0.3, "start and end of one NCCL kernel"},
          {"copy.peak", Dimension::byte_rate, 1e6, 1e13, 0.3, "host memory to GPU, large copies"},
          {"gemm.share", std::nullopt, 0.01, 1, 0.3, "of the data sheet's rate"}};
}

inline CalibrationFit example_calibration_fit() {
  CalibrationFit fit;
  fit.calibration.name = "mycluster";
  fit.calibration.constants = {{"nccl.kernel", 3.41e-6, 0.04, 8, 0x1p32, 27, 0.05},
                               {"copy.peak", 24.1e9, 0.01, 4096, 0x1p30, 14, 0.021},
                               {"gemm.share", 0.83, 2, 0, 0, 1, 0}};
  fit.defaults = {5.5e-6, 25e9, 0};
  fit.calibration.collectives = {
      {"all_reduce",
       8,
       1,
       0,
       "",
       "",
       {{1024, 65536, 11e-6, 1 / 4e9, 0.02, 4}, {131072, 1048576, 20e-6, 1 / 12e9, 0.05, 4}}},
      {"broadcast", 16, 2, 4, "ring", "ll128", {{8, 8, 9e-6, 0, 0, 1}}}};
  const TimeSegment& first = fit.calibration.collectives[0].segments[0];
  for (int i = 0; i < 4; ++i) {
    const double bytes = 1024 * std::pow(4.0, i),
                 fitted = 1e6 * (first.latency_s + bytes * first.seconds_per_byte);
    fit.residuals.push_back({"all_reduce on 8 GPUs", "log.txt", 12 + i, bytes, fitted * (i == 2 ? 1.5 : 0.98),
                             fitted, SampleUnit::us, 0});
  }
  fit.residuals.push_back({"broadcast on 16 GPUs", "log.txt", 40, 8, 9, 9, SampleUnit::us, 1});
  fit.residuals.push_back({"h2d pinned", "copies.csv", 3, 4096, 2.1, 2.0, SampleUnit::gigabytes_per_s, -1});
  fit.residuals.push_back(
      {"h2d pinned", "copies.csv", 4, 0x1p30, 24.0, 24.2, SampleUnit::gigabytes_per_s, -1});
  fit.residuals.push_back({"launch <gap>", "host.csv", 9, 0, 2.0, 2.5, SampleUnit::us, -1});
  fit.left_out = {{"log.txt", 50, "size 0"}, {"log.txt", 60, "size 0"}, {"copies.csv", 8, "no unit"}};
  fit.refused = {"tax.memory: no sample depends on it"};
  return fit;
}

}  // namespace foretrain::test
