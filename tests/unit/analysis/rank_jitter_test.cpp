// The spread between ranks from logs of single steps.
#include "sim/analysis/step/rank_jitter.hpp"

#include <cmath>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace rank_jitter_test {

using namespace foretrain;

namespace {

Sample steps_of(int gpus, double spread, int repeats) {
  Sample sample;
  sample.kind = SampleKind::training, sample.what = "step", sample.gpus = gpus;
  sample.value = 1e5, sample.spread = spread, sample.repeats = repeats;
  return sample;
}

}  // namespace

TEST_CASE("the largest of n normals varies less than one of them: the tables of order statistics") {
  CHECK(spread_of_slowest(1) == Approx(1));
  CHECK(spread_of_slowest(2) == Approx(std::sqrt(1 - 1 / 3.14159265358979)));  // closed form for two
  CHECK(spread_of_slowest(4) == Approx(0.7012).epsilon(1e-3));                 // Tippett 1925
  CHECK(spread_of_slowest(10) == Approx(0.5868).epsilon(1e-3));
}

TEST_CASE("one GPU's steps vary as ranks do, the steps of four less") {
  CHECK(rank_spread_of({steps_of(1, 0.02, 100)})->value == Approx(0.02));
  const auto four = rank_spread_of({steps_of(4, 0.014, 201)});
  REQUIRE(four);
  CHECK(four->name == "loss.rank_spread");
  CHECK(four->value == Approx(0.014 / 0.7012).epsilon(1e-3));
  CHECK(four->spread == Approx(1.0 / 20));  // 1 / sqrt(2 x 200)
}

TEST_CASE(
    "a log that strays does not count more than others, few steps and means over many steps do not count at "
    "all") {
  CHECK(rank_spread_of({steps_of(1, 0.01, 50), steps_of(1, 0.012, 50), steps_of(1, 0.5, 50)})->value ==
        Approx(0.012));
  Sample rate = steps_of(1, 0.02, 100);
  rate.what = "samples_per_s";
  CHECK_FALSE(rank_spread_of({rate, steps_of(1, 0.02, 19), steps_of(1, 0, 100)}));
}

TEST_CASE("of an even number of logs the mean of the middle two counts") {
  CHECK(rank_spread_of({steps_of(1, 0.01, 50), steps_of(1, 0.03, 50)})->value == Approx(0.02));
}

}  // namespace rank_jitter_test
