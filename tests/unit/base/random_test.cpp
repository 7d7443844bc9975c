// Counter-based random numbers and the normal distribution.
#include "sim/base/random.hpp"

#include <cmath>
#include <set>

#include "tests/support/catch.hpp"

namespace random_test {

using namespace foretrain;

namespace {

double mean(const CounterRandom& random, std::uint64_t stream, int draws) {
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += random.uniform(stream, static_cast<std::uint64_t>(i));
  return sum / draws;
}

}  // namespace

TEST_CASE("a value depends on seed, stream and index alone") {
  const CounterRandom a(7), b(7);
  const std::uint64_t late = b.bits(3, 1000);
  CHECK(a.bits(3, 5) == b.bits(3, 5));
  CHECK(a.bits(3, 1000) == late);
  CHECK(CounterRandom(8).bits(3, 5) != a.bits(3, 5));
}

TEST_CASE("streams do not repeat each other") {
  const CounterRandom random(1);
  std::set<std::uint64_t> seen;
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    for (std::uint64_t index = 0; index < 50; ++index) seen.insert(random.bits(stream, index));
  }
  CHECK(seen.size() == 2500);
}

TEST_CASE("two streams are uncorrelated") {
  const CounterRandom random(42);
  constexpr int kDraws = 20'000;
  double product = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i)
    product += (random.uniform(0, i) - 0.5) * (random.uniform(1, i) - 0.5);
  // Standard error of the correlation of 20,000 pairs: 1/sqrt(20000) = 0.007; the variance of a uniform is
  // 1/12.
  CHECK(std::abs(product / kDraws * 12) < 4 * 0.00707);
}

TEST_CASE("uniform draws fill the unit interval evenly") {
  const CounterRandom random(3);
  // Standard error of the mean of 20,000 uniforms: sqrt(1/12/20000) = 0.00204.
  CHECK(std::abs(mean(random, 0, 20'000) - 0.5) < 4 * 0.00204);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(random.uniform(9, i) >= 0);
    CHECK(random.uniform(9, i) < 1);
  }
}

TEST_CASE("normal draws have mean zero and variance one") {
  const CounterRandom random(5);
  constexpr int kDraws = 20'000;
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double x = random.normal(2, i);
    REQUIRE(std::isfinite(x));
    sum += x, squares += x * x;
  }
  CHECK(std::abs(sum / kDraws) < 4 / std::sqrt(kDraws));
  CHECK(squares / kDraws == Approx(1).margin(4 * std::sqrt(2.0 / kDraws)));
}

TEST_CASE("the normal quantile meets the tables") {
  CHECK(normal_quantile(0.5) == Approx(0).margin(1e-12));
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-8));
  CHECK(normal_quantile(0.95) == Approx(1.644853626951473).epsilon(1e-8));
  CHECK(normal_quantile(0.8413447460685429) == Approx(1).epsilon(1e-8));
  CHECK(normal_quantile(0.01) == Approx(-2.326347874040841).epsilon(1e-8));
  CHECK(normal_quantile(1e-9) == Approx(-5.997807015007687).epsilon(1e-8));
}

TEST_CASE("the normal quantile is odd about one half and inverts the distribution function") {
  for (const double p : {1e-6, 0.001, 0.0242, 0.0243, 0.1, 0.3, 0.49}) {
    CHECK(normal_quantile(1 - p) == Approx(-normal_quantile(p)).epsilon(1e-8));
    CHECK(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) == Approx(p).epsilon(1e-7));
  }
}

TEST_CASE("the expected maximum of n normal draws is near the exact order statistics") {
  CHECK(expected_normal_maximum(0) == 0);
  CHECK(expected_normal_maximum(1) == 0);
  CHECK(expected_normal_maximum(2) ==
        Approx(1 / std::sqrt(std::acos(-1.0))).epsilon(0.05));  // exact: 1/sqrt(pi)
  CHECK(expected_normal_maximum(10) == Approx(1.53875).epsilon(0.01));
  CHECK(expected_normal_maximum(100) == Approx(2.50759).epsilon(0.01));
}

TEST_CASE("the expected maximum grows with n") {
  for (int n = 1; n < 1'000'000; n *= 3) CHECK(expected_normal_maximum(n) < expected_normal_maximum(3 * n));
}

}  // namespace random_test
