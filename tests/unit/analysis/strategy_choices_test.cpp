// How often the strategy named first was measured first, counted by hand.
#include "sim/analysis/validation/strategy_choices.hpp"

#include "tests/support/catch.hpp"

namespace strategy_choices_test {

using namespace foretrain;

namespace {

ValidatedPoint point(const char* strategy, double measured, double predicted, const char* cluster = "a") {
  ValidatedPoint out;
  out.gpus = 4, out.measured = measured, out.predicted = predicted;
  out.row.model = "m", out.row.cluster = cluster, out.row.strategy = strategy;
  return out;
}

StrategyChoices counted_over(std::vector<ValidatedPoint> points) {
  Validation validation;
  validation.series.push_back({"s", 0, 0, std::move(points)});
  return strategy_choices(validation);
}

}  // namespace

TEST_CASE("one strategy at a setting is no choice, and neither are rates in unknown units") {
  CHECK(counted_over({point("ddp", 1, 1), point("zero1", 2, 2, "b")}).settings == 0);
  ValidatedPoint rate = point("zero1", 2, 2);
  rate.row.metric = Measurement::Metric::rate;
  CHECK(counted_over({point("ddp", 1, 1), rate}).settings == 0);
  ValidatedPoint nodes = point("zero1", 2, 2);
  nodes.row.nodes = 2;
  CHECK(counted_over({point("ddp", 1, 1), nodes}).settings == 0);
}

TEST_CASE("the first is right when it was measured within 2 % of the first measured") {
  const StrategyChoices right = counted_over({point("zero1", 99, 110), point("horovod", 100, 90)});
  CHECK(right.settings == 1);
  CHECK(right.first_right == 1);
  CHECK(right.slower == 1);
  CHECK(right.slower_right == 0);  // horovod was 1 % faster
  const StrategyChoices wrong = counted_over({point("zero1", 90, 110), point("horovod", 100, 90)});
  CHECK(wrong.first_right == 0);
  CHECK(wrong.fastest_right == 0);
}

TEST_CASE("among those predicted within 2 % DDP is named first") {
  const StrategyChoices c = counted_over({point("zero1", 90, 100), point("ddp", 100, 99)});
  CHECK(c.first_right == 1);
  CHECK(c.fastest_right == 0);
  CHECK(c.tied == 1);
  CHECK(c.tied_right == 0);
  CHECK(counted_over({point("zero1", 96, 100), point("ddp", 100, 99)}).tied_near == 1);
  CHECK(counted_over({point("zero1", 99, 100), point("ddp", 100, 99)}).tied_right == 1);
}

TEST_CASE("several rows of a strategy are one, of times the shortest is the fastest") {
  CHECK(
      counted_over({point("ddp", 100, 100), point("ddp", 300, 300), point("zero1", 150, 150)}).first_right ==
      1);
  std::vector<ValidatedPoint> times{point("ddp", 2, 2), point("zero1", 1, 1)};
  for (ValidatedPoint& p : times) p.row.metric = Measurement::Metric::step_s;
  const StrategyChoices c = counted_over(times);
  CHECK(c.first_right == 1);
  CHECK(c.slower_right == 1);
}

}  // namespace strategy_choices_test
