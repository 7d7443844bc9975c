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
  return predict(scenario, nullptr, {.evidence = {&field}});
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

TEST_CASE("law: a correction is one factor whatever the bandwidth, so faster networks stay faster") {
  const Scenario slow = test::scenario_of(test::resnet18(), test::star_cluster(8, {1.25e9}), {1, 8});
  const Scenario fast = test::scenario_of(test::resnet18(), test::star_cluster(8, {12.5e9}), {1, 8});
  const ResidualField field = steps_of(slow, 12, 1.3);
  const Prediction raw_slow = predict(slow), raw_fast = predict(fast);
  const Prediction near_slow = with(slow, field), near_fast = with(fast, field);
  REQUIRE(raw_fast.points[1].step_s < raw_slow.points[1].step_s);
  CHECK(near_fast.points[1].step_s < near_slow.points[1].step_s);
  CHECK(near_fast.evidence->correction == near_slow.evidence->correction);
}

TEST_CASE(
    "law: steps grow with the GPUs where simulated ones do, while measured jobs lost no less than that") {
  const Scenario scenario = test::mnist_scenario({1, 2, 4, 8});
  std::vector<Observation> rows;
  for (int i = 0; i < 12; ++i) {
    rows.push_back(ratio_question(scenario, scenario.workload.batch_per_gpu, 8, 8));
    rows.back().source = "source " + std::to_string(i), rows.back().predicted = 1, rows.back().measured = 1.2;
  }
  const Prediction raw = predict(scenario), near = with(scenario, ResidualField(rows));
  REQUIRE(near.evidence->correction.per_doubling > 0);
  for (std::size_t i = 1; i < raw.points.size(); ++i)
    CHECK((raw.points[i].step_s >= raw.points[i - 1].step_s) <=
          (near.points[i].step_s >= near.points[i - 1].step_s));
}

TEST_CASE("runs to make are of this training, best first, and leave less than there is") {
  const Scenario scenario = test::resnet_scenario();
  const ResidualField nothing;
  const Prediction p = predict(scenario, nullptr, {.sensitivity = true, .evidence = {&nothing, "own"}});
  REQUIRE(p.evidence);
  // One GPU; four of a node and eight of two, each alone and beside one GPU.
  REQUIRE(p.evidence->runs.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const RunsToMake& one = p.evidence->runs[i];
    CHECK(one.left > 0);
    CHECK(one.left < 1);
    if (i > 0) CHECK(one.left >= p.evidence->runs[i - 1].left);
    CHECK(one.runs.front().model == scenario.model.name);
  }
  CHECK(p.evidence->runs.front().runs.size() == 2);
  CHECK(predict(scenario, nullptr, {.evidence = {&nothing, "own"}}).evidence->runs.empty());
}

}  // namespace corrected_prediction_test
