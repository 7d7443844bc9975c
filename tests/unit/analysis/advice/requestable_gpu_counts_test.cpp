// Which numbers of GPUs are worth asking for.
#include "sim/analysis/advice/recommend.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace requestable_gpu_counts_test {

using namespace foretrain;

namespace {

using Numbers = std::vector<int>;

/// ResNet-18 on nodes of four GPUs.
Scenario on_nodes(int nodes) {
  Scenario scenario = test::scenario_of(test::resnet18(), test::nvlink_cluster(nodes, 2), {1});
  return scenario;
}

}  // namespace

TEST_CASE("every number in one node, then nodes by halves and doublings, and the whole cluster") {
  CHECK(requestable_gpu_counts(on_nodes(1)) == Numbers{1, 2, 3, 4});
  CHECK(requestable_gpu_counts(on_nodes(7)) ==
        Numbers{1, 2, 3, 4, 8, 12, 16, 24, 28});  // 2, 3, 4, 6, 7 nodes
}

TEST_CASE("what no partition gives is left out, and the most that one gives is asked for") {
  Scenario scenario = on_nodes(7);
  scenario.cluster.site.partitions = {{.name = "small", .most_gpus = 2}, {.name = "medium", .most_nodes = 5}};
  CHECK(requestable_gpu_counts(scenario) == Numbers{1, 2, 3, 4, 8, 12, 16, 20});
}

TEST_CASE("a strategy of one process asks for one node, the plain loop for one GPU") {
  Scenario scenario = on_nodes(4);
  scenario.strategy = "data_parallel";
  CHECK(requestable_gpu_counts(scenario) == Numbers{1, 2, 3, 4});
  scenario.strategy = "single";
  CHECK(requestable_gpu_counts(scenario) == Numbers{1});
}

TEST_CASE("numbers of GPUs that share a global batch without a rest, and those that are listed") {
  Scenario scenario = on_nodes(4);
  scenario.global_batch = 12;
  scenario.lists_gpus = false;
  CHECK(requestable_gpu_counts(scenario) == Numbers{1, 2, 3, 4, 12});
  scenario.lists_gpus = true, scenario.gpus = {1, 8};
  CHECK(requestable_gpu_counts(scenario) == Numbers{1, 2, 3, 4, 8, 12});
}

}  // namespace requestable_gpu_counts_test
