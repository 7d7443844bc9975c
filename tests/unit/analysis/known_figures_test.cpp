// Which figures of a point are known.
#include "sim/analysis/step/known_figures.hpp"

#include "tests/support/catch.hpp"

namespace known_figures_test {

using namespace foretrain;

namespace {

PredictionPoint whole_point() {
  PredictionPoint p;
  p.gpus = 4, p.steps_per_epoch = 10, p.step_s = 1, p.epoch_s = 10, p.total_s = 20, p.gpu_hours = 80.0 / 3600;
  p.speedup = 3, p.efficiency = 0.75, p.chance_of_gain = 0.99;
  p.interval = {0.9, 1.1}, p.epoch_interval = {9, 11}, p.total_interval = {18, 22}, p.speedup_range = {2, 4};
  p.memory.parameters = {1000}, p.memory_capacity = {2000};
  return p;
}

}  // namespace

TEST_CASE("what was computed is known") {
  const KnownFigures known = known_figures(whole_point());
  CHECK(known.steps_per_epoch == 10);
  CHECK(known.epoch_s == 10.0);
  CHECK(known.total_s == 20.0);
  CHECK(known.gpu_hours == 80.0 / 3600);
  CHECK(known.speedup == 3.0);
  CHECK(known.efficiency == 0.75);
  CHECK(known.chance_of_gain == 0.99);
  CHECK(known.interval->high_s == 1.1);
  CHECK(known.total_interval->low_s == 18);
  CHECK(known.speedup_range->low == 2);
}

TEST_CASE("without the size of the data set there is no epoch and no run, but a step and a speedup") {
  PredictionPoint p = whole_point();
  p.knows_epochs = false;
  const KnownFigures known = known_figures(p);
  CHECK_FALSE(known.steps_per_epoch);
  CHECK_FALSE(known.epoch_s);
  CHECK_FALSE(known.total_s);
  CHECK_FALSE(known.gpu_hours);
  CHECK_FALSE(known.epoch_interval);
  CHECK_FALSE(known.total_interval);
  CHECK(known.interval);
  CHECK(known.speedup);
}

TEST_CASE("an epoch without a step is one of no steps, and has no length") {
  PredictionPoint p = whole_point();
  p.steps_per_epoch = 0;
  CHECK(known_figures(p).steps_per_epoch == 0);
  CHECK_FALSE(known_figures(p).epoch_s);
  CHECK_FALSE(known_figures(p).total_interval);
}

TEST_CASE("what does not fit is not faster than anything") {
  PredictionPoint p = whole_point();
  p.memory_capacity = {999};
  const KnownFigures known = known_figures(p);
  CHECK_FALSE(known.speedup);
  CHECK_FALSE(known.efficiency);
  CHECK_FALSE(known.chance_of_gain);
  CHECK_FALSE(known.interval);
  CHECK_FALSE(known.speedup_range);
  CHECK(known.epoch_s);
}

TEST_CASE("intervals that nobody computed are not known") {
  PredictionPoint p = whole_point();
  p.interval = {}, p.total_interval = {}, p.speedup_range = {};
  CHECK_FALSE(known_figures(p).interval);
  CHECK_FALSE(known_figures(p).total_interval);
  CHECK_FALSE(known_figures(p).chance_of_gain);
  CHECK(known_figures(p).speedup);
}

}  // namespace known_figures_test
