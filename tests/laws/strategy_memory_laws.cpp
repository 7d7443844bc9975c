// What a strategy holds beside the network is a number of bytes and one for each sample, whatever batch is
// planned.
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace strategy_memory_laws {

using namespace foretrain;

namespace {

/// On two nodes, or on one where the strategy is one process.
std::optional<PredictionPoint> point_with(const std::string& strategy, const char* framework,
                                          std::int64_t batch, OpenedCatalogs& opened) {
  ScenarioOverrides overrides;
  overrides.model = "bert_large_s384", overrides.cluster = "aws-p5", overrides.strategy = strategy;
  const StrategyEntry& row = *find_strategy(strategy);
  overrides.gpus = {row.one_gpu ? 1 : row.processes == Processes::one ? 8 : 16}, overrides.batch = batch;
  overrides.settings = {std::string("framework.name=") + framework};
  try {
    const Scenario scenario = make_scenario(overrides, opened);
    PointPredictor points(scenario, scenario.gpus.back());
    Decisions unused;
    return points.point(scenario.gpus.back(), unused);
  } catch (const InputError&) {
    return std::nullopt;  // the strategy is not of this framework
  }
}

}  // namespace

TEST_CASE("law: with every strategy and framework the largest batch does not depend on the batch asked for") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  int checked = 0;
  for (const std::string& strategy : strategy_names()) {
    for (const char* framework : {"pytorch", "tensorflow"}) {
      INFO(strategy << " in " << framework);
      const auto one = point_with(strategy, framework, 1, opened);
      if (!one) continue;
      const std::int64_t most = one->largest_batch;
      REQUIRE(most > 1);
      for (const std::int64_t batch : {most, most + 1}) {
        INFO("batch " << batch << ", largest " << most);
        const PredictionPoint p = point_with(strategy, framework, batch, opened).value();
        CHECK(p.largest_batch == most);
        CHECK(p.fits() == (batch == most));
      }
      ++checked;
    }
  }
  CHECK(checked >= 15);
}

}  // namespace strategy_memory_laws
