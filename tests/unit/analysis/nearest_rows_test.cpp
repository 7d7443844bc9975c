// Which measured runs are like a question: distances that can be added up by hand.
#include "sim/analysis/validation/nearest_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace nearest_rows_test {

using namespace foretrain;

namespace {

Observation row(const std::string& model, const std::string& gpu, const std::string& strategy, int gpus) {
  Observation o;
  o.what = gpus == 1 ? Observed::step : Observed::ratio;
  o.source = "somebody", o.run = model + gpu, o.model = model, o.gpu = gpu, o.strategy = strategy;
  o.cluster = gpu == "v100-sxm2-32gb" ? "puhti" : "mahti", o.precision = "fp32";
  o.size = 32, o.gpus = gpus, o.measured = gpus == 1 ? 0.1 : 1.25, o.predicted = 1;
  return o;
}

const std::string kV100 = "v100-sxm2-32gb", kA100 = "a100-sxm4-40gb", kK80 = "k80";

Scenario question() {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "resnet50", overrides.cluster = "puhti", overrides.strategy = "ddp",
  overrides.gpus = {1, 4};
  return make_scenario(overrides);
}

std::vector<NearRow> nearest(const std::vector<Observation>& rows, std::size_t most = 8) {
  return nearest_rows(question(), EvidenceTable(rows), most);
}

}  // namespace

TEST_CASE(
    "measured runs come in the order of what differs, and what shares neither network nor GPU not at all") {
  const std::vector<NearRow> near =
      nearest({row("resnet50", kA100, "ddp", 4), row("vgg16", kA100, "ddp", 4),
               row("resnet50", kV100, "horovod", 8), row("resnet50", kV100, "ddp", 4)});
  REQUIRE(near.size() == 3);
  CHECK(near[0].distance == 0);
  CHECK(near[1].distance == 0.5 + 0.25);  // another strategy, twice the GPUs
  // Another GPU, doublings between their peaks, and another cluster.
  const auto peak = [](const std::string& gpu) {
    return open_value(CatalogKind::gpus, gpu, read_gpu).fp32.per_second;
  };
  CHECK(near[2].distance == Approx(1 + std::abs(std::log2(peak(kA100) / peak(kV100))) + 0.5));
  CHECK(near[2].row.gpu == kA100);
  CHECK(nearest({row("resnet50", kV100, "ddp", 4)}, 0).empty());
}

TEST_CASE("servers on slow cards are not like collectives on fast ones") {
  CHECK(nearest({row("resnet50", kK80, "parameter_server", 4)}).empty());
  CHECK(nearest({row("resnet50", kV100, "parameter_server", 4)}).front().distance == 2);
}

TEST_CASE("a measured ratio is an efficiency, and a step where its series has one of one GPU") {
  const std::vector<NearRow> near = nearest(
      {row("resnet50", kV100, "ddp", 1), row("resnet50", kV100, "ddp", 4), row("vgg16", kV100, "ddp", 2)});
  REQUIRE(near.size() == 3);
  CHECK(near[0].efficiency == 0);
  CHECK(near[0].low == 0.1);
  CHECK(near[1].efficiency == 0.8);  // 1 / 1.25
  CHECK(near[1].low == 0.125);       // 1.25 times 0.1 s
  CHECK(near[2].efficiency == 0.8);
  CHECK(near[2].high == 0);
}

TEST_CASE("the nearest of the measured runs to a measured run is that run, and its repeats are one row") {
  const Scenario scenario = question();
  const OpenedEvidence evidence = open_evidence("", EvidenceOf::trainings);
  const std::vector<NearRow> near = nearest_rows(scenario, evidence.field.table(), 8);
  REQUIRE(near.size() == 8);
  CHECK(near.front().repeats > 1);
  CHECK(near.front().low < near.front().high);
  CHECK(near.front().row.cluster == "puhti");
  CHECK(near.front().distance == 0);
  CHECK(std::ranges::all_of(near, [](const NearRow& n) { return n.row.model == "resnet50"; }));
}

}  // namespace nearest_rows_test
