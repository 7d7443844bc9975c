// One thing of a scenario changed, the rest as it was.
#include "sim/scenario/variation.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace variation_test {

using namespace foretrain;

TEST_CASE("both scalings have the same batch on the first number of GPUs") {
  Scenario weak = test::resnet_scenario({2, 4, 8});
  weak.workload.batch_per_gpu = 16, weak.knobs.accumulation = 2;
  const Scenario strong = with_scaling(weak, Scaling::strong);
  CHECK(strong.global_batch == 64);  // 16 samples, 2 GPUs, 2 micro-steps
  const Scenario back = with_scaling(strong, Scaling::weak);
  CHECK_FALSE(back.global_batch);
  CHECK(back.workload.batch_per_gpu == 16);
}

TEST_CASE("a measurement keeps the batch it was made with") {
  Scenario weak = test::resnet_scenario({1, 2, 4});
  weak.workload.batch_per_gpu = 16, weak.anchor = Anchor{4, 0.1};
  CHECK(with_scaling(weak, Scaling::strong).global_batch == 64);
}

TEST_CASE("a scaling that a scenario has already changes nothing") {
  const Scenario weak = test::resnet_scenario();
  CHECK(with_scaling(weak, Scaling::weak).workload.batch_per_gpu == 32);
  CHECK_FALSE(with_scaling(weak, Scaling::weak).global_batch);
}

TEST_CASE("numbers of GPUs that cannot share the global batch are left out") {
  Scenario weak = test::resnet_scenario({1, 4, 8});
  weak.workload.batch_per_gpu = 4;
  CHECK(with_scaling(weak, Scaling::strong).gpus == std::vector<int>{1, 4});
}

TEST_CASE("a global batch that does not divide is rounded up to a batch per GPU") {
  Scenario strong = test::resnet_scenario({4, 8});
  strong.global_batch = 50;
  CHECK(with_scaling(strong, Scaling::weak).workload.batch_per_gpu == 13);  // 12.5
}

TEST_CASE("the batch is that of a GPU or of all, as the scenario scales") {
  Scenario scenario = test::resnet_scenario();
  CHECK(batch_of(with_batch(scenario, 7)) == 7);
  CHECK(with_batch(scenario, 7).workload.batch_per_gpu == 7);
  scenario.global_batch = 64;
  CHECK(batch_of(with_batch(scenario, 7)) == 7);
  CHECK(with_batch(scenario, 7).workload.batch_per_gpu == 32);
}

TEST_CASE("a wider network is expanded again") {
  const Scenario scenario = test::resnet_scenario();
  const Scenario wide = with_width(scenario, 2);
  CHECK(wide.workload.model->parameter_elements() > 3 * scenario.workload.model->parameter_elements());
  CHECK(scenario.workload.model->parameter_elements() == 11'689'512);
}

TEST_CASE("a network that cannot be wider is a mistake that says why") {
  Scenario scenario = test::resnet_scenario();
  scenario.model.layers.insert(scenario.model.layers.begin(), test::plain("timed"));
  CHECK_THROWS_WITH(with_width(scenario, 2), ContainsSubstring("a layer of type timed"));
}

TEST_CASE("links of one kind become faster, in nodes and between them") {
  Scenario scenario = test::resnet_scenario();
  const double network = scenario.cluster.fabric.link.bandwidth.per_second;
  const Scenario fast = with_link_speed(scenario, LinkKind::network, 2);
  CHECK(fast.cluster.fabric.link.bandwidth.per_second == 2 * network);
  for (std::size_t i = 0; i < fast.cluster.node.links.size(); ++i)
    CHECK(fast.cluster.node.links[i].type.bandwidth.per_second ==
          scenario.cluster.node.links[i].type.bandwidth.per_second);
  const Scenario nvlink = with_link_speed(scenario, LinkKind::nvlink, 0.5);
  CHECK(nvlink.cluster.fabric.link.bandwidth.per_second == network);
  for (std::size_t i = 0; i < nvlink.cluster.node.links.size(); ++i) {
    const LinkType &now = nvlink.cluster.node.links[i].type, &before = scenario.cluster.node.links[i].type;
    CHECK(now.bandwidth.per_second == before.bandwidth.per_second * (now.kind == LinkKind::nvlink ? 0.5 : 1));
  }
}

}  // namespace variation_test
