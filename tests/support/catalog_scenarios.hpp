// Scenarios of the catalogs whose steps simulate in a millisecond or two, drawn at random for laws.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "tests/support/drawn.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace foretrain::test {

/// Networks from those that do not scale to those that do.
inline const std::vector<std::string>& quick_networks() {
  static const std::vector<std::string> names{"mnist_net", "spiral_mlp",    "cifar_convnet_chtc",
                                              "alexnet",   "resnet18",      "resnet50",
                                              "vgg16",     "bert_base_s128"};
  return names;
}

inline const std::vector<std::string>& quick_machines() {
  static const std::vector<std::string> names{"puhti",       "mahti",       "raven",
                                              "chtc-2080ti", "param-rudra", "chtc-p100-2",
                                              "dgx2",        "dgx-a100",    "jean-zay-v100"};
  return names;
}

/// A scenario of the catalogs on at most eight nodes, with limits of memory and of batches within reach.
inline Scenario catalog_scenario(Random& random, OpenedCatalogs& opened, ScenarioOverrides* asked = nullptr) {
  for (;;) {
    ScenarioOverrides overrides;
    overrides.model = pick(random, quick_networks()), overrides.cluster = pick(random, quick_machines());
    overrides.strategy = pick<std::string>(
        random, {"ddp", "ddp", "horovod", "data_parallel", "mirrored", "zero1", "zero3", "fsdp", "fsdp2"});
    overrides.batch = pick<std::int64_t>(random, {1, 8, 32, 128, 512, 4096});
    overrides.gpus =
        pick<std::vector<int>>(random, {{1, 2, 4}, {1, 4, 8, 16}, {2, 3, 5, 8}, {4}, {1, 2, 3, 4, 6, 7, 8}});
    overrides.settings = {"data.samples=128000", "run.epochs=3"};
    if (random() % 4 == 0) overrides.settings.emplace_back("model.global_batch=256"), overrides.batch.reset();
    try {
      Scenario scenario = make_scenario(overrides, opened);
      scenario.cluster.nodes = std::min(scenario.cluster.nodes, 8);
      const auto cannot = [&](int gpus) { return !why_not(scenario, gpus).empty(); };
      if (std::ranges::any_of(scenario.gpus, cannot)) continue;
      if (asked != nullptr) *asked = overrides;
      return scenario;
    } catch (const InputError&) {
      // Too many GPUs for this cluster or batch: another draw.
    }
  }
}

}  // namespace foretrain::test
