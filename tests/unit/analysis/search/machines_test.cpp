// One training predicted on several clusters.
#include "sim/analysis/search/machines.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace machines_test {

using namespace foretrain;

namespace {

struct Question {
  std::string model = "resnet18";
  std::vector<std::string> settings{};
  MachinesRequest request{};
};

MachineComparison compared(const std::vector<std::string>& clusters, const std::vector<int>& gpus,
                           const Question& question = {}) {
  test::use_source_catalogs();
  const OpenOnMachine open = [&question](const std::string& cluster, const std::vector<int>& numbers) {
    ScenarioOverrides overrides;
    overrides.model = question.model, overrides.cluster = cluster, overrides.gpus = numbers;
    overrides.settings = question.settings;
    return make_scenario(overrides);
  };
  return compare_machines(clusters, gpus, open, question.request);
}

const MachineRow& row_of(const MachineComparison& c, std::string_view cluster, int gpus) {
  const auto found = std::ranges::find_if(
      c.rows, [&](const MachineRow& row) { return row.cluster == cluster && row.gpus == gpus; });
  REQUIRE(found != c.rows.end());
  return *found;
}

}  // namespace

TEST_CASE("a row has the figures that predict has on that cluster") {
  const MachineComparison c = compared({"puhti", "mahti"}, {1, 4});
  REQUIRE(c.rows.size() == 4);
  ScenarioOverrides overrides;
  overrides.model = "resnet18", overrides.cluster = "mahti", overrides.gpus = {4};
  const PredictionPoint alone = predict(make_scenario(overrides)).points.front();
  const MachineRow& row = row_of(c, "mahti", 4);
  CHECK(row.point->step_s == alone.step_s);
  CHECK(row.point->interval.high_s == alone.interval.high_s);
  CHECK(row.gpu == "a100-sxm4-40gb");
  CHECK(c.scenario == "resnet18");
  CHECK(c.amount == AmountOf::million_samples);
  CHECK_THAT(row.time_s, Catch::Matchers::WithinRel(1e6 / alone.samples_per_s, 1e-9));
  CHECK_THAT(row.gpu_hours, Catch::Matchers::WithinRel(4 * row.time_s / 3600, 1e-9));
}

TEST_CASE("amounts are of the run where its length is given, else of an epoch without start-up") {
  const MachineComparison epoch = compared({"mahti"}, {1}, {.settings = {"data.samples=50000"}});
  CHECK(epoch.amount == AmountOf::epoch);
  const PredictionPoint& p = *epoch.rows.front().point;
  CHECK_THAT(epoch.rows.front().time_s,
             Catch::Matchers::WithinRel(static_cast<double>(p.steps_per_epoch) * p.step_s, 1e-9));
  const MachineComparison run =
      compared({"mahti"}, {1}, {.settings = {"data.samples=50000", "run.epochs=3"}});
  CHECK(run.amount == AmountOf::run);
  CHECK(run.rows.front().time_s == run.rows.front().point->total_s);
}

TEST_CASE("a number of GPUs that one cluster lacks hides neither its other numbers nor other clusters") {
  const MachineComparison c = compared({"mahti", "lambda-h100"}, {1, 200});
  CHECK(row_of(c, "mahti", 1).runs());
  CHECK(row_of(c, "lambda-h100", 200).runs());
  CHECK(row_of(c, "mahti", 200).why_not == "cluster mahti has 96 GPUs");
  CHECK(row_of(c, "mahti", 1).time_s == row_of(compared({"mahti"}, {1}), "mahti", 1).time_s);
}

TEST_CASE("what does not fit is a row with the memory that it lacks") {
  const MachineComparison c = compared({"m3-p100", "lambda-h100"}, {1},
                                       {.model = "resnet50", .settings = {"model.batch_per_gpu=512"}});
  CHECK(row_of(c, "lambda-h100", 1).runs());
  CHECK_THAT(row_of(c, "m3-p100", 1).why_not, StartsWith("it does not fit into memory: each GPU needs 4"));
  CHECK(c.rows[*c.best].cluster == "lambda-h100");
}

TEST_CASE("costs are compared where the units are one currency") {
  CHECK(compared({"puhti", "mahti"}, {1}).counts_cost);  // billing units of one centre
  CHECK_FALSE(compared({"puhti", "lambda-h100"}, {1}).counts_cost);
  CHECK_FALSE(compared({"delta-a100", "bridges2-h100"}, {1}).counts_cost);  // SU of two centres
  CHECK(compared({"delta-a100"}, {1, 2}).counts_cost);
  const MachineComparison priced = compared(
      {"puhti", "lambda-h100"}, {1}, {.request = {.price_per_gpu_hour = 2, .prices = {{"puhti", 0.5}}}});
  CHECK(priced.counts_cost);
  const MachineRow &puhti = row_of(priced, "puhti", 1), &lambda = row_of(priced, "lambda-h100", 1);
  CHECK_THAT(*puhti.cost, Catch::Matchers::WithinRel(0.5 * puhti.gpu_hours, 1e-9));
  CHECK_THAT(*lambda.cost, Catch::Matchers::WithinRel(2 * lambda.gpu_hours, 1e-9));
  CHECK_FALSE(row_of(compared({"lambda-h100"}, {1}), "lambda-h100", 1).cost);
}

TEST_CASE("numbers that no partition gives are no jobs") {
  CHECK(row_of(compared({"mahti"}, {4, 28}), "mahti", 28).why_not == "no partition gives a job 28 GPUs");
}

TEST_CASE("mistakes of the training and unknown clusters are thrown, all at once") {
  CHECK_THROWS_WITH(compared({"puhtii", "mahtii"}, {1}),
                    ContainsSubstring("did you mean \"puhti\"") && ContainsSubstring("2 errors"));
  CHECK_THROWS_WITH(compared({"puhti"}, {1}, {.model = "resnet5"}), ContainsSubstring("unknown model"));
  CHECK_THROWS_WITH(compared({"puhti"}, {1}, {.request = {.deadline_s = 3600}}),
                    ContainsSubstring("--deadline is of a run"));
}

}  // namespace machines_test
