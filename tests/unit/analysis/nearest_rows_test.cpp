// Which published rows are like a question: distances that can be added up by hand.
#include "sim/analysis/validation/nearest_rows.hpp"

#include "sim/scenario/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace nearest_rows_test {

using namespace foretrain;

namespace {

Measurement row(const std::string& model, const std::string& cluster, const std::string& strategy, int gpus) {
  Measurement m;
  m.model = model, m.cluster = cluster, m.strategy = strategy, m.precision = "fp32";
  m.batch_per_gpu = 32, m.gpus = gpus, m.value = 1;
  return m;
}

Scenario question() {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "resnet50", overrides.cluster = "puhti", overrides.strategy = "ddp", overrides.gpus = {4};
  return make_scenario(overrides);
}

}  // namespace

TEST_CASE("rows come in the order of what differs, and what shares neither network nor GPU not at all") {
  const std::vector<NearRow> near =
      nearest_rows(question(), 4,
                   {row("resnet50", "mahti", "ddp", 4), row("vgg16", "mahti", "ddp", 4),
                    row("resnet50", "puhti", "horovod", 8), row("resnet50", "puhti", "ddp", 4)});
  REQUIRE(near.size() == 3);
  CHECK(near[0].distance == 0);
  CHECK(near[1].distance == 1 + 0.25);  // another strategy, twice the GPUs
  CHECK(near[2].distance == 2 + 0.5);   // another GPU, another cluster
  CHECK(near[0].gpu == "v100-sxm2-32gb");
  CHECK(nearest_rows(question(), 4, {row("resnet50", "puhti", "ddp", 4)}, 0).empty());
}

TEST_CASE("the nearest of the published rows to a published run is that run") {
  const Scenario scenario = question();
  const MeasurementFile file = read_or_throw(open_measured_trainings().value(), read_measurements);
  const std::vector<NearRow> near = nearest_rows(scenario, 4, file.scaling);
  REQUIRE(near.size() == 8);
  CHECK(near.front().runs > 1);
  CHECK(near.front().low < near.front().high);
  CHECK(near.front().row.cluster == "puhti");
  CHECK(near.front().row.model == "resnet50");
  CHECK(near.front().distance == 0);
}

}  // namespace nearest_rows_test
