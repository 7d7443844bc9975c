// Measured curves against the model on sizes that neither has seen.
#include "sim/analysis/fit/measured_collectives.hpp"

#include <cmath>

#include "tests/unit/analysis/synthetic_samples.hpp"

namespace measured_collectives_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// What a library takes that changes its protocol at 100 kB: six times as much by byte below.
double time_us(double bytes) { return 20 + (bytes < 1e5 ? bytes / 1e3 : bytes / 6e3 + 83); }

struct Measured {
  std::vector<Sample> samples;
  SamplePredictions modelled;
};

/// Sizes `factor` apart; the model is off by `off`.
Measured measured(double factor, double off) {
  Measured out;
  for (double bytes = 1024; bytes < 1e8; bytes *= factor) {
    Sample sample = collective_sample("all_reduce", 8, 2, static_cast<std::int64_t>(bytes));
    sample.value = time_us(bytes);
    out.samples.push_back(sample);
    out.modelled.emplace_back(off * sample.value);
  }
  return out;
}

MeasuredCollectives kept(const Measured& m) { return measured_collectives(m.samples, m.modelled); }

}  // namespace

TEST_CASE("a curve of many sizes is kept as it was measured, whatever the model says") {
  CHECK(kept(measured(1.5, 1.3)).curves.size() == 1);
  CHECK(kept(measured(1.5, 1.3)).refused.empty());
}

TEST_CASE("between sizes far apart a good model is better than straight pieces, a bad one is not") {
  const MeasuredCollectives good = kept(measured(16, 1.01));
  CHECK(good.curves.empty());
  REQUIRE(good.refused.size() == 1);
  CHECK_THAT(good.refused.front(), ContainsSubstring("all_reduce on 8 GPUs: its sizes are too far apart"));
  CHECK(kept(measured(16, 3)).curves.size() == 1);
}

TEST_CASE("too few sizes make no curve, and a few cannot be cut") {
  Measured few = measured(16, 1.01);
  few.samples.resize(2), few.modelled.resize(2);
  CHECK(kept(few).curves.empty());
  few = measured(16, 1.01);
  few.samples.resize(4), few.modelled.resize(4);
  CHECK(kept(few).curves.size() == 1);
}

TEST_CASE("what is no collective of several GPUs is left to the constants") {
  Measured one = measured(2, 1);
  for (Sample& sample : one.samples) sample.gpus = 1;
  CHECK(kept(one).curves.empty());
}

}  // namespace measured_collectives_test
