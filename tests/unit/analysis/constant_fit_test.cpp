// Many machines that the model made up: constants are found again on each, and the spread says how well.
#include "sim/analysis/fit/calibration_stages.hpp"
#include "sim/collective/costs.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "tests/unit/analysis/synthetic_samples.hpp"

namespace constant_fit_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr int kMachines = 40;
constexpr double kNoise = 0.05;

/// In [0.6, 1.6], evenly over its logarithm.
double factor(std::uint64_t machine, std::uint64_t which) {
  return 0.6 * std::pow(1.6 / 0.6, CounterRandom(7).uniform(machine, which));
}

std::vector<Sample> copies() {
  std::vector<Sample> samples;
  for (std::int64_t bytes = 256; bytes <= 1 << 30; bytes *= 4)
    samples.push_back(sample_of(SampleKind::copy, "h2d", bytes, SampleUnit::us));
  return samples;
}

WantedConstant wanted(const std::string& name, double start, double least, double most, double prior = 0.3) {
  return {{name, std::nullopt, least, most, prior, "meaning"}, start};
}

std::vector<WantedConstant> link_constants_wanted() {
  return {wanted("link.pcie3_x16.bandwidth", 12.3e9, 1e6, 1e12),
          wanted("link.pcie3_x16.latency", 1e-6, 1e-9, 1e-2, 0.7)};
}

/// By how many of the fit's own standard deviations a constant is off.
double deviations(const CalibratedConstant& found, double truth) {
  return std::log(found.value / truth) / found.spread;
}

}  // namespace

TEST_CASE(
    "on forty machines a link's constants are found again within 5 %, and nine of ten intervals of 90 % hold "
    "the truth") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  int inside = 0;
  for (std::uint64_t machine = 0; machine < kMachines; ++machine) {
    const double bandwidth = 12.3e9 * factor(machine, 0), latency = 1e-6 * factor(machine, 1);
    const Calibration truth =
        constants({{"link.pcie3_x16.bandwidth", bandwidth}, {"link.pcie3_x16.latency", latency}});
    const ConstantFit fit = fit_constants(cluster, measure(cluster, truth, copies(), 10, kNoise, machine),
                                          link_constants_wanted());
    INFO("machine " << machine);
    REQUIRE(fit.constants.size() == 2);
    CHECK(fit.constants[0].value == Approx(bandwidth).epsilon(0.05));
    CHECK(fit.constants[1].value == Approx(latency).epsilon(0.05));
    inside += std::abs(deviations(fit.constants[0], bandwidth)) < 1.645 ? 1 : 0;
    inside += std::abs(deviations(fit.constants[1], latency)) < 1.645 ? 1 : 0;
  }
  // 80 intervals, 72 of which are expected to hold the truth, +- 2.7; three of those, and no claim of far too
  // much doubt above.
  CHECK(inside >= 72 - 8);
}

TEST_CASE("one sample in ten that is three times too slow moves a constant by less than 5 %") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const Calibration truth = constants({{"link.pcie3_x16.bandwidth", 9e9}});
  std::vector<Sample> samples = measure(cluster, truth, copies(), 10, kNoise);
  for (std::size_t i = 0; i < samples.size(); i += 10) samples[i].value *= 3;
  const ConstantFit fit = fit_constants(cluster, samples, link_constants_wanted());
  REQUIRE(fit.constants.size() == 2);
  CHECK(fit.constants[0].value == Approx(9e9).epsilon(0.05));
  CHECK(fit.constants[1].value == Approx(1e-6).epsilon(0.05));
}

TEST_CASE("samples with a larger spread of their own count less") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  std::vector<Sample> samples =
      measure(cluster, constants({{"link.pcie3_x16.bandwidth", 10e9}}), copies(), 4, 0.01);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].spread = i % 4 == 0 ? 0.5 : 0.01;
    if (i % 4 == 0) samples[i].value *= 1.5;
  }
  const ConstantFit fit = fit_constants(cluster, samples, {link_constants_wanted()[0]});
  REQUIRE(fit.constants.size() == 1);
  CHECK(fit.constants[0].value == Approx(10e9).epsilon(0.02));
}

TEST_CASE(
    "a constant states the sizes, the number and the residual of the samples that it depends on, not of "
    "all") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  std::vector<Sample> samples;
  for (const std::int64_t bytes : {1 << 28, 1 << 29, 1 << 30}) {
    samples.push_back(sample_of(SampleKind::copy, "h2d", bytes, SampleUnit::gigabytes_per_s));
    samples.back().value = 80;
  }
  for (const double value : {9.0, 10.0, 11.0}) {
    samples.push_back(sample_of(SampleKind::network, "write", 1 << 23, SampleUnit::gigabytes_per_s));
    samples.back().value = value;
  }
  const ConstantFit fit = fit_constants(cluster, samples,
                                        {wanted("link.pcie_wide.bandwidth", 98.4e9, 1e6, 1e12),
                                         wanted("link.ib_hdr100.bandwidth", 12.3e9, 1e6, 1e12)});
  REQUIRE(fit.constants.size() == 2);
  CHECK(fit.constants[0].samples == 3);
  CHECK(fit.constants[0].least == 1 << 28);
  CHECK(fit.constants[0].most == 1 << 30);
  CHECK(fit.constants[0].residual < 0.02);
  CHECK(fit.constants[1].samples == 3);
  CHECK(fit.constants[1].least == 1 << 23);
  CHECK(fit.constants[1].most == 1 << 23);
  // 9, 10 and 11 around their middle: root of two thirds of a tenth squared.
  CHECK(fit.constants[1].residual == Approx(0.082).epsilon(0.05));
  CHECK(fit.defaults == std::vector<double>{98.4e9, 12.3e9});
}

TEST_CASE("a constant without a start, or with a range of one value, is not fitted") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  const std::vector<Sample> samples = measure(cluster, {}, copies(), 1, 0);
  CHECK(
      fit_constants(cluster, samples, {wanted("link.pcie3_x16.bandwidth", 0, 1e6, 1e12)}).constants.empty());
  CHECK(fit_constants(cluster, samples, {wanted("link.pcie3_x16.bandwidth", 12.3e9, 1e12, 1e12)})
            .constants.empty());
  CHECK(fit_constants(cluster, {}, link_constants_wanted()).constants.empty());
  CHECK(fit_constants(cluster, samples, {}).constants.empty());
}

TEST_CASE("what one refused constant leaves over is fitted by the others") {
  ClusterSpec cluster = nvlink_cluster(1, 1);
  const Calibration truth = constants({{"link.pcie3_x16.bandwidth", 30e9}, {"link.pcie3_x16.latency", 3e-6}});
  std::vector<WantedConstant> narrow = link_constants_wanted();
  narrow[0].range.most = 15.75e9;
  const ConstantFit fit = fit_constants(cluster, measure(cluster, truth, copies(), 4, 0.01), narrow);
  REQUIRE(fit.refused.size() == 1);
  CHECK_THAT(fit.refused[0],
             ContainsSubstring("link.pcie3_x16.bandwidth: the samples ask for more than 1.575e+10"));
  REQUIRE(fit.constants.size() == 1);
  CHECK(fit.constants[0].name == "link.pcie3_x16.latency");
  // Twice its default or more: the copies that are faster than the default bandwidth still pull at it.
  CHECK(fit.constants[0].value > 2e-6);
  CHECK(fit.constants[0].value < 3.1e-6);
}

// Launches back to back show the sum of a kernel's shortest time and of the gap before it, 3 us of the model
// and 6 measured.
TEST_CASE("of two constants that only show together one stays, fitted beside the other's default") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  Sample sample = sample_of(SampleKind::host, "launch_gap", 0, SampleUnit::us);
  const double before = *predict_samples(cluster, {sample}).front();
  sample.value = 2 * before;
  const KernelCalibration usual = kernel_calibration_of(cluster);
  const ConstantFit fit =
      fit_constants(cluster, {sample, sample, sample},
                    {wanted("kernel.launch_gap", to_seconds(usual.launch_gap), 1e-9, 1e-3, 1.5),
                     wanted("kernel.minimum", to_seconds(usual.minimum), 1e-9, 1e-3, 1.4)});
  REQUIRE(fit.constants.size() == 1);
  Calibration calibration;
  calibration.constants = fit.constants;
  CHECK(*predict_samples(calibrated(cluster, calibration), {sample}).front() ==
        Approx(2 * before).epsilon(0.03));
}

}  // namespace constant_fit_test
