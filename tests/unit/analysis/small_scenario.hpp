// Small scenarios as plain values, for tests of the analysis.
#pragma once

#include <memory>

#include "sim/scenario/scenario.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace foretrain::test {

/// DDP in fp32 on the given model and cluster, batch 32 per GPU, all defaults.
inline Scenario scenario_of(Model model, ClusterSpec cluster, std::vector<int> gpus) {
  Scenario scenario;
  scenario.name = "small";
  scenario.workload.model = std::make_shared<const ExpandedModel>(expand(model).model);
  scenario.model = std::move(model);
  scenario.cluster = std::move(cluster);
  scenario.gpus = std::move(gpus);
  return scenario;
}

inline Scenario mnist_scenario(std::vector<int> gpus = {1, 2, 4}) {
  return scenario_of(mnist_net(), star_cluster(8, {12.3e9}), std::move(gpus));
}
inline Scenario resnet_scenario(std::vector<int> gpus = {1, 4, 8}) {
  return scenario_of(resnet18(), nvlink_cluster(4, 2), std::move(gpus));
}

}  // namespace foretrain::test
