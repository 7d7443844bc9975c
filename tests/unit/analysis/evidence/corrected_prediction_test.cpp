// A prediction with evidence beside one without.
#include <cmath>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/predict.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace corrected_prediction_test {

using namespace foretrain;

namespace {

/// So many runs of the scenario's step by others, each `slower` times as long as predicted.
ResidualField steps_of(const Scenario& scenario, int sources, double slower) {
  std::vector<Observation> rows;
  for (int i = 0; i < sources; ++i) {
    Observation row = step_question(scenario, scenario.workload.batch_per_gpu);
    row.source = "source " + std::to_string(i);
    row.predicted = 1, row.measured = slower;
    rows.push_back(row);
  }
  return ResidualField(std::move(rows));
}

Prediction with(const Scenario& scenario, const ResidualField& field) {
  return predict(scenario, nullptr, {.evidence = &field});
}

}  // namespace

TEST_CASE("law: without rows within reach the prediction is the simulated one to the last digit") {
  const Scenario scenario = test::resnet_scenario();
  Scenario other = scenario;
  other.model.name = "another", other.cluster.node.gpu.name = "another";
  other.workload.precision = Precision::tf32;
  const Prediction raw = predict(scenario), far = with(scenario, steps_of(other, 5, 1.5));
  for (std::size_t i = 0; i < raw.points.size(); ++i) {
    CHECK(far.points[i].step_s == raw.points[i].step_s);
    CHECK(far.points[i].interval.low_s == raw.points[i].interval.low_s);
    CHECK(far.points[i].total_interval.high_s == raw.points[i].total_interval.high_s);
  }
}

TEST_CASE("agreeing neighbours move the whole curve by one factor and narrow its intervals") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario), near = with(scenario, steps_of(scenario, 12, 1.1));
  REQUIRE(near.evidence);
  const double factor = near.points[0].step_s / raw.points[0].step_s;
  CHECK(factor > 1.01);
  CHECK(factor < 1.1);
  for (std::size_t i = 0; i < raw.points.size(); ++i) {
    const PredictionPoint &a = raw.points[i], &b = near.points[i];
    CHECK(b.step_s == Approx(factor * a.step_s));
    CHECK(b.speedup == Approx(a.speedup));
    CHECK(std::log(b.interval.high_s / b.interval.low_s) < std::log(a.interval.high_s / a.interval.low_s));
    CHECK(b.interval.low_s < b.step_s);
    CHECK(b.total_interval.high_s > b.total_s);
    CHECK(near.evidence->raw[i].step_s == a.step_s);
    CHECK(near.evidence->raw[i].interval.high_s == Approx(a.interval.high_s));
  }
  CHECK(near.crossover.fastest_gpus == raw.crossover.fastest_gpus);
}

TEST_CASE("the measured step of an anchored training is not corrected") {
  Scenario scenario = test::resnet_scenario();
  scenario.anchor = Anchor{1, predict(scenario).points[0].step_s * 1.05};
  const Prediction p = with(scenario, steps_of(scenario, 12, 1.5));
  CHECK(p.points[0].step_s == Approx(scenario.anchor->step_s).epsilon(1e-3));
}

TEST_CASE("the crossover is found on the corrected curve, as its table shows it") {
  const Scenario scenario = test::mnist_scenario({1, 2, 4, 8});
  std::vector<Observation> rows;
  for (int i = 0; i < 12; ++i) {
    Observation row = ratio_question(scenario, scenario.workload.batch_per_gpu, 8, 8);
    row.source = "source " + std::to_string(i);
    row.predicted = 1, row.measured = 1.2;
    rows.push_back(row);
  }
  const Prediction p = with(scenario, ResidualField(std::move(rows)));
  REQUIRE(p.evidence);
  CHECK(p.evidence->correction.per_doubling > 0);
  double most = 0;
  int fastest = 1;
  for (const PredictionPoint& point : p.points)
    if (point.samples_per_s > 1.001 * most) most = point.samples_per_s, fastest = point.gpus;
  CHECK(p.crossover.fastest_gpus == fastest);
}

}  // namespace corrected_prediction_test
