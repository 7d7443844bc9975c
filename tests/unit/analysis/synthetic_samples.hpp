// Measurements that the model itself makes on a machine whose constants are known, with noise: what a fit has
// to find again.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "sim/analysis/fit/calibrate.hpp"
#include "sim/base/random.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/sample_list.hpp"

namespace foretrain::test {

inline Calibration constants(const std::vector<std::pair<std::string, double>>& values) {
  Calibration calibration;
  for (const auto& [name, value] : values) calibration.constants.push_back({name, value, 0, 0, 0, 0, 0});
  return calibration;
}

/// Each of `asked` measured `repeats` times on the cluster with those constants, with lognormal noise of that
/// deviation.
inline std::vector<Sample> measure(const ClusterSpec& cluster, const Calibration& truth,
                                   const std::vector<Sample>& asked, int repeats, double noise,
                                   std::uint64_t seed = 1) {
  const SamplePredictions exact = predict_samples(calibrated(cluster, truth), asked);
  const CounterRandom random(seed);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    REQUIRE(exact[i]);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      samples.push_back(asked[i]);
      samples.back().value =
          *exact[i] * std::exp(noise * random.normal(i, static_cast<std::uint64_t>(repeat)));
      samples.back().source = "synthetic", samples.back().line = static_cast<int>(samples.size());
    }
  }
  return samples;
}

/// Found again within `tolerance`, and within three of the fit's own standard deviations.
inline void check_recovered(const CalibrationFit& fit, const std::string& name, double truth,
                            double tolerance) {
  INFO(name);
  const CalibratedConstant* found = fit.calibration.find(name);
  REQUIRE(found != nullptr);
  CHECK(found->value == Approx(truth).epsilon(tolerance));
  CHECK(std::abs(std::log(found->value / truth)) <= 3 * found->spread + 1e-4);
  CHECK(found->spread < 0.2);
  CHECK(found->samples > 0);
}

}  // namespace foretrain::test
