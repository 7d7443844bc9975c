// Properties of the saturating curve: peak and half size come back, with true spreads, and outliers do not
// move them.
#include <cmath>

#include "calibrate/fit/saturating.hpp"
#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace fit_saturating_test {

using namespace foretrain;
using foretrain::fit::RatePoint;
using foretrain::fit::Saturating;

namespace {

constexpr double kPeak = 25e9, kHalf = 3e5;

std::vector<RatePoint> copies(int n, double noise, double outlier, std::uint64_t seed) {
  const CounterRandom random(seed);
  std::vector<RatePoint> out;
  for (int i = 0; i < n; ++i) {
    const double bytes = std::pow(2.0, 12 + 18.0 * i / n);
    const double off = i % 10 == 7 ? outlier : 1;
    out.push_back({bytes,
                   kPeak * bytes / (bytes + kHalf) * off *
                       std::exp(noise * random.normal(1, static_cast<std::uint64_t>(i))),
                   0});
  }
  return out;
}

}  // namespace

TEST_CASE("peak and half size come back within 3 % from samples with 5 % noise") {
  const Saturating curve = fit::fit_saturating(copies(200, 0.05, 1, 3));
  CHECK(curve.peak == Approx(kPeak).epsilon(0.03));
  CHECK(curve.half == Approx(kHalf).epsilon(0.03));
  CHECK(curve.spread == Approx(0.05).epsilon(0.2));
  CHECK(curve.samples == 200);
  CHECK(curve.at(kHalf) == Approx(kPeak / 2).epsilon(0.03));
}

TEST_CASE("the spreads of peak and half size cover the truth in 85 to 95 % of 500 seeded draws") {
  int peak = 0, half = 0;
  for (std::uint64_t draw = 0; draw < 500; ++draw) {
    const Saturating curve = fit::fit_saturating(copies(20, 0.05, 1, 1000 + draw));
    peak += std::abs(std::log(curve.peak / kPeak)) < 1.645 * curve.peak_spread ? 1 : 0;
    half += std::abs(std::log(curve.half / kHalf)) < 1.645 * curve.half_spread ? 1 : 0;
  }
  CHECK(peak >= 425);
  CHECK(peak <= 475);
  CHECK(half >= 425);
  CHECK(half <= 475);
}

TEST_CASE("a tenth of the copies three times too fast move peak and half size by less than 3 %") {
  const Saturating clean = fit::fit_saturating(copies(100, 0.01, 1, 4)),
                   hit = fit::fit_saturating(copies(100, 0.01, 3, 4));
  CHECK(hit.peak == Approx(clean.peak).epsilon(0.03));
  CHECK(hit.half == Approx(clean.half).epsilon(0.03));
}

TEST_CASE("a flat curve has its peak and a half size that nobody is sure of") {
  const Saturating curve = fit::fit_saturating({{1e9, 10e9, 0}, {2e9, 10.1e9, 0}, {4e9, 9.9e9, 0}});
  CHECK(curve.peak == Approx(10e9).epsilon(0.1));
  CHECK(curve.half < 1e9);
  CHECK(curve.half_spread > 0.5);
}

TEST_CASE("no points give a curve of nothing, and one point what it says at its size") {
  CHECK(fit::fit_saturating({}).samples == 0);
  const Saturating one = fit::fit_saturating({{1e6, 5e9, 0}});
  CHECK(one.at(1e6) == Approx(5e9).epsilon(0.1));
  CHECK(std::isfinite(one.peak_spread));
  CHECK(std::isfinite(one.half_spread));
}

}  // namespace fit_saturating_test
