// Whole reports against approved texts in tests/golden/approved; a wanted change is approved by copying what
// the failing test prints.

#include <fmt/format.h>

#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/report/study/study_reports.hpp"
#include "sim/report/validation/validation_catalog.hpp"
#include "tests/support/approved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_comparison.hpp"
#include "tests/support/example_machines.hpp"
#include "tests/support/example_prediction.hpp"
#include "tests/support/example_recommendation.hpp"
#include "tests/support/example_study.hpp"

namespace reports {

using namespace foretrain;
using test::approved;

namespace {

Validation example_validation() {
  Validation v;
  v.rows = 4, v.scored = 2;
  v.skipped = {{5, "unknown cluster \"nowhere\""}};
  v.unreached = {{"frames",
                  7,
                  1,
                  "the measured step of 6.54 ms on 1 GPU cannot be reached: the model says 2.3 s",
                  {{4, {}}, {8, {}}}}};
  v.provenance = "rules.toml";
  v.inferred_settings = {{"framework.name = \"tensorflow\"", 4, "the name of the log"}};
  v.error = statistics_of({0.02, -0.04});
  v.linear = statistics_of({0.10, 0.20});
  v.coverage = 1;
  v.series = {{"one series",
               0.03,
               0.04,
               {{.gpus = 4,
                 .measured = 1200,
                 .predicted = 1224,
                 .error = 0.02,
                 .low = 1100,
                 .high = 1300,
                 .linear = 1320},
                {.gpus = 8,
                 .measured = 2500,
                 .predicted = 2400,
                 .error = 0.04,
                 .low = 2200,
                 .high = 2600,
                 .linear = 3000}}}};
  return v;
}

}  // namespace

TEST_CASE("the table is as approved") {
  CHECK(write_table(test::example_prediction(), {.explain = true}) == approved("prediction.txt"));
}
TEST_CASE("the recommendation is as approved") {
  CHECK(write_recommendation(test::example_recommendation()) == approved("recommendation.txt"));
}
TEST_CASE("the table of what the total depends on is as approved") {
  CHECK(write_sensitivity(test::example_sensitivity()) == approved("sensitivity.txt"));
}
TEST_CASE("the table of intervals is as approved") {
  Prediction p = test::example_prediction();
  p.points[0].total_interval = {288'000, 450'000, 0.9};
  p.points[1].total_interval = {45'000, 70'200, 0.9}, p.points[1].speedup_range = {5.5, 7.25},
  p.points[1].chance_of_gain = 0.997;
  CHECK(write_intervals(p) == approved("intervals.txt"));
}
TEST_CASE("the JSON is as approved") {
  CHECK(write_json(test::example_prediction(), {}) == approved("prediction.json"));
}
TEST_CASE("the CSV is as approved") {
  CHECK(write_csv(test::example_prediction(), {}) == approved("prediction.csv"));
}
TEST_CASE("the validation table is as approved") {
  CHECK(write_validation_table(example_validation()) == approved("validation.txt"));
}
TEST_CASE("the validation JSON is as approved") {
  CHECK(write_validation_json(example_validation()) == approved("validation.json"));
}
TEST_CASE("the comparison table is as approved") {
  CHECK(write_comparison_table(test::example_comparison(), {.explain = true}) == approved("comparison.txt"));
}
TEST_CASE("the comparison JSON is as approved") {
  CHECK(write_comparison_json(test::example_comparison(), {}) == approved("comparison.json"));
}
TEST_CASE("the comparison CSV is as approved") {
  CHECK(write_comparison_csv(test::example_comparison(), {}) == approved("comparison.csv"));
}
TEST_CASE("the table of machines is as approved") {
  MachineComparison machines = test::example_machines();
  judge_machines(machines);
  CHECK(write_machines_table(machines, {}) == approved("machines.txt"));
}
TEST_CASE("the table of a study is as approved") {
  CHECK(write_study_table(test::example_study(), {.explain = true}) == approved("study.txt"));
}
TEST_CASE("the JSON of a study is as approved") {
  CHECK(write_study_json(test::example_study(), {}) == approved("study.json"));
}
TEST_CASE("the CSV of a study is as approved") {
  CHECK(write_study_csv(test::example_study(), {}) == approved("study.csv"));
}
TEST_CASE("the tables of several predictions and their summary are as approved") {
  Prediction other = test::example_prediction();
  other.scenario = "another one", other.points.pop_back(), other.crossover.fastest_gpus = 1;
  CHECK(write_predictions_table({test::example_prediction(), other}, {}) == approved("predictions.txt"));
}

}  // namespace reports
