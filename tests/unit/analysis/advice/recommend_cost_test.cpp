// What a recommended job costs: by rates, by a price, and in energy.
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/recommended.hpp"

namespace recommend_cost_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a site's rates make the cost, a given price takes their place, and rates of nothing are none") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.site.billing = {"BU", 100, 0, 0};
  const Recommendation billed = recommended(scenario);
  CHECK(billed.cost_unit == "BU");
  CHECK(billed.best->cost == Approx(100 * billed.best->gpu_hours));
  RecommendationRequest request;
  request.price_per_gpu_hour = 2.5;
  const Recommendation priced = recommended(scenario, request);
  CHECK(priced.cost_unit.empty());
  CHECK(priced.best->cost == Approx(2.5 * priced.best->gpu_hours));
  scenario.cluster.site.billing.per_gpu_hour = 0;
  CHECK(recommended(scenario).cost_unit == "GPU-h");
}

TEST_CASE("a node's energy is that of its GPUs, of the rest of it, and of GPUs that are paid and idle") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.node.gpu.tdp_w = 300;
  RecommendationRequest one = goal(Goal::cheapest);
  one.only_gpus = {1};
  const JobOption shared = *recommended(scenario, one).best;
  const double hours = shared.point.total_s / 3600;
  CHECK(shared.energy_kwh == Approx(shared.gpu_energy_kwh + 0.15 * hours));  // half of one board
  scenario.cluster.node.host.power_w = 400;
  CHECK(recommended(scenario, one).best->energy_kwh == Approx(shared.gpu_energy_kwh + 0.1 * hours));
  scenario.cluster.site.partitions = {partition("nodes", 16, 48)};
  scenario.cluster.site.partitions[0].whole_nodes = true;
  CHECK(recommended(scenario, one).best->energy_kwh ==
        Approx(shared.gpu_energy_kwh + (0.4 + 3 * 0.2 * 0.3) * hours));
}

}  // namespace recommend_cost_test
