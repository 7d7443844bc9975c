// What one scenario has read from the catalogs, the next one takes as it is.
#include "sim/scenario/opened_catalogs.hpp"

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace opened_catalogs_test {

using namespace foretrain;

namespace {

ScenarioOverrides asking(std::string model, std::string cluster, std::vector<std::string> settings = {}) {
  ScenarioOverrides overrides;
  overrides.model = std::move(model), overrides.cluster = std::move(cluster),
  overrides.settings = std::move(settings);
  return overrides;
}

}  // namespace

TEST_CASE("two scenarios of one network and cluster read their files once and are as if each had read them") {
  OpenedCatalogs opened;
  const Scenario first = make_scenario(asking("resnet18", "puhti"), opened);
  const Scenario second = make_scenario(asking("resnet18", "puhti", {"model.batch_per_gpu=7"}), opened);
  const Scenario alone = make_scenario(asking("resnet18", "puhti", {"model.batch_per_gpu=7"}));
  CHECK(opened.models.size() == 1);
  CHECK(opened.clusters.size() == 1);
  CHECK(second.workload.model == first.workload.model);
  CHECK(second.workload.batch_per_gpu == 7);
  CHECK(second.model.name == alone.model.name);
  CHECK(second.workload.model->forward.size() == alone.workload.model->forward.size());
  CHECK(second.cluster.name == alone.cluster.name);
  CHECK(second.cluster.node.links.size() == alone.cluster.node.links.size());
}

TEST_CASE("what a scenario changes of its cluster stays its own") {
  OpenedCatalogs opened;
  const bool usual = make_scenario(asking("resnet18", "puhti"), opened).cluster.node.gpudirect;
  const Scenario other = make_scenario(
      asking("resnet18", "puhti", {std::string("nccl.gdr=") + (usual ? "false" : "true")}), opened);
  CHECK(other.cluster.node.gpudirect != usual);
  CHECK(make_scenario(asking("resnet18", "puhti"), opened).cluster.node.gpudirect == usual);
}

TEST_CASE("names that are not known are refused every time") {
  OpenedCatalogs opened;
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(make_scenario(asking("resnet18", "no_such_cluster"), opened), InputError);
  CHECK(opened.clusters.empty());
}

}  // namespace opened_catalogs_test
