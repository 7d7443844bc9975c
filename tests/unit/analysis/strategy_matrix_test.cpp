// The best strategy of each model on each cluster.
#include "sim/analysis/search/strategy_matrix.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace strategy_matrix_test {

using namespace foretrain;

namespace {

StrategyMatrix matrix(const std::vector<std::string>& strategies, int gpus) {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.gpus = {gpus};
  return choose_strategies({"mnist_net", "resnet18"}, {"puhti", "mahti"}, overrides, strategies);
}

}  // namespace

TEST_CASE("the table has a choice for every pair, model after model") {
  const StrategyMatrix m = matrix({"data_parallel", "ddp"}, 4);
  REQUIRE(m.choices.size() == 4);
  CHECK(m.choices[1].model == "mnist_net");
  CHECK(m.choices[1].cluster == "mahti");
  CHECK(m.choices[2].model == "resnet18");
  CHECK(m.choices[2].cluster == "puhti");
}

TEST_CASE("a choice is the first of the comparison of that model on that cluster, its runner-up the second") {
  ScenarioOverrides overrides;
  overrides.gpus = {4}, overrides.model = "mnist_net", overrides.cluster = "puhti";
  const StrategyChoice choice = matrix({"data_parallel", "ddp"}, 4).choices[0];
  const Comparison alone = compare(read_compared({}, overrides, {"data_parallel", "ddp"}));
  const std::vector<ComparedStrategy>& rows = alone.numbers[0].strategies;
  CHECK(choice.best == rows[0].strategy);
  CHECK(choice.step_s == rows[0].point.step_s);
  CHECK(choice.speedup == rows[0].point.speedup);
  CHECK(choice.runner_up == rows[1].strategy);
  CHECK(choice.runner_up_by == rows[1].point.samples_per_s / rows[0].point.samples_per_s);
  CHECK(choice.runner_up_by < 1);
}

TEST_CASE("where only one strategy runs there is no runner-up") {
  for (const StrategyChoice& choice : matrix({"data_parallel", "ddp"}, 8).choices) {
    CHECK(choice.best == "ddp");
    CHECK(choice.runner_up.empty());
  }
}

}  // namespace strategy_matrix_test
