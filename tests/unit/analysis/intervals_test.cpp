// Intervals of answers: speedup, total, crossover, and which inputs they come from.
#include "sim/analysis/uncertainty/intervals.hpp"

#include <algorithm>

#include "sim/analysis/predict.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace intervals_test {

using namespace foretrain;

namespace {

Scenario long_run(std::vector<int> gpus) {
  Scenario scenario = test::resnet_scenario(std::move(gpus));
  scenario.workload.data.samples = 100'000;
  scenario.workload.data.loader = LoaderKind::none;
  scenario.epochs = 10;
  return scenario;
}

const TornadoBar* find(const Sensitivity& s, std::string_view input) {
  const auto found =
      std::find_if(s.bars.begin(), s.bars.end(), [&](const TornadoBar& bar) { return bar.input == input; });
  return found == s.bars.end() ? nullptr : &*found;
}

double width(const Interval& interval) { return interval.high_s / interval.low_s; }

}  // namespace

TEST_CASE("the speedup is known better than the step: slower kernels slow down one GPU, too") {
  const Prediction p = predict(long_run({1, 4}));
  const PredictionPoint& four = p.points.back();
  CHECK(four.speedup_range.low < four.speedup);
  CHECK(four.speedup_range.high >= four.speedup);
  CHECK(four.speedup_range.high / four.speedup_range.low < width(four.interval));
  CHECK(p.points.front().speedup_range.low == 1);
  CHECK(p.points.front().speedup_range.high == 1);
}

TEST_CASE("intervals contain what they are of, and those of epoch and total follow the step") {
  for (const PredictionPoint& p : predict(long_run({1, 4, 8})).points) {
    CHECK(p.interval.low_s < p.step_s);
    CHECK(p.step_s < p.interval.high_s);
    CHECK(p.epoch_interval.high_s / p.epoch_s == Approx(p.interval.high_s / p.step_s));
    CHECK(p.total_interval.low_s < p.total_s);
    CHECK(p.total_s < p.total_interval.high_s);
  }
}

TEST_CASE("a job that is four times as fast surely gains, one that is slower surely does not") {
  CHECK(predict(long_run({1, 4})).points.back().chance_of_gain > 0.99);
  Scenario slow = long_run({1, 4});
  slow.cluster = test::star_cluster(8, {1e6});  // a megabyte per second
  CHECK(predict(slow).points.back().chance_of_gain < 0.01);
}

TEST_CASE("the crossover's range contains the crossover") {
  const Prediction p = predict(long_run({1, 4, 8}));
  CHECK(p.crossover_spread.fastest_low <= p.crossover.fastest_gpus);
  CHECK(p.crossover_spread.fastest_high >= p.crossover.fastest_gpus);
  CHECK(p.crossover_spread.chance_slower_than_one == 0);
  CHECK(!p.crossover_spread.slower_from_low);
}

TEST_CASE("the shares of a tornado sum to one, largest first, and only what matters has a bar") {
  const Sensitivity s = *predict(long_run({1, 4}), nullptr, {.sensitivity = true}).sensitivity;
  double sum = 0;
  for (std::size_t i = 0; i < s.bars.size(); ++i) {
    sum += s.bars[i].share;
    CHECK(s.bars[i].low_s <= s.total_s);
    CHECK(s.bars[i].high_s >= s.total_s);
    if (i > 0) CHECK(s.bars[i].share <= s.bars[i - 1].share);
  }
  CHECK(sum == Approx(1));
  CHECK(find(s, "kernel times") != nullptr);
  CHECK(find(s, "network") == nullptr);  // four GPUs are one node
  CHECK(find(s, "input pipeline") == nullptr);
}

TEST_CASE(
    "a wide step is never put down to what comes around the steps, and the length of the run has no say") {
  Scenario endless = long_run({8}), nothing_said = endless;
  nothing_said.workload.data.samples = 0, nothing_said.startup = seconds(1000);
  const std::string of_step = predict(nothing_said).to_narrow;
  REQUIRE_FALSE(of_step.empty());
  CHECK_THAT(of_step, !ContainsSubstring("start-up"));
  CHECK(of_step == predict(endless).to_narrow);
}

TEST_CASE("without the size of the data set a sensitivity is that of a step, which has no start-up") {
  Scenario scenario = long_run({1, 4});
  scenario.workload.data.samples = 0;
  const Prediction p = predict(scenario, nullptr, {.sensitivity = true});
  const Sensitivity& s = *p.sensitivity;
  CHECK(s.is_of_step);
  CHECK(s.total_s == p.points.back().step_s);
  CHECK(s.interval.high_s == p.points.back().interval.high_s);
  CHECK(find(s, "start-up, validation, checkpoints") == nullptr);
  CHECK_FALSE(predict(long_run({1, 4}), nullptr, {.sensitivity = true}).sensitivity->is_of_step);
}

TEST_CASE("measuring narrows, and the job itself most") {
  const Sensitivity s = *predict(long_run({1, 4}), nullptr, {.sensitivity = true}).sensitivity;
  REQUIRE(s.narrowed.size() >= 2);
  for (const NarrowedBy& n : s.narrowed) CHECK(n.high_s - n.low_s < s.interval.high_s - s.interval.low_s);
  CHECK(s.narrowed.front().measurement == describe(Narrowing::many_gpus));
}

TEST_CASE("what one measurement promises is about what anchoring at it gives") {
  Scenario scenario = long_run({1, 4});
  const Prediction free = predict(scenario, nullptr, {.sensitivity = true});
  const auto promised =
      std::find_if(free.sensitivity->narrowed.begin(), free.sensitivity->narrowed.end(),
                   [](const NarrowedBy& n) { return n.measurement == describe(Narrowing::one_gpu); });
  REQUIRE(promised != free.sensitivity->narrowed.end());
  scenario.anchor = Anchor{1, free.points.front().step_s};
  const Interval got = predict(scenario).points.back().total_interval;
  CHECK(promised->high_s / promised->low_s == Approx(width(got)).epsilon(0.05));
}

TEST_CASE("a run that is mostly start-up depends on it") {
  Scenario scenario = long_run({1});
  scenario.epochs = 0.01;
  const Sensitivity s = *predict(scenario, nullptr, {.sensitivity = true}).sensitivity;
  CHECK(s.bars.front().input == "start-up, validation, checkpoints");
}

TEST_CASE("intervals are the same every time") {
  const Prediction a = predict(long_run({1, 8})), b = predict(long_run({1, 8}));
  CHECK(a.points.back().interval.high_s == b.points.back().interval.high_s);
  CHECK(a.points.back().speedup_range.low == b.points.back().speedup_range.low);
}

}  // namespace intervals_test
