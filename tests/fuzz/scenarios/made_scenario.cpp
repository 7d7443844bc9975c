// A made scenario's own file: the strategy with its options, as their rows in the catalog say, and some of
// all other keys with the values of the reference pages.
#include "tests/fuzz/scenarios/made_scenario.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/fuzz/scenarios/made_cluster.hpp"

namespace foretrain::test {

namespace {

/// One of "none, fp16, bf16", of "true, false"; else what the reference page has for an example.
std::string value_of(const ScenarioKey& key, Choices& choices) {
  if (key.kind == "true, false") return choices.one_in(2) ? "true" : "false";
  if (key.kind.find(", ") == std::string::npos || key.kind.find(" or ") != std::string::npos)
    return key.example;
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < key.kind.size();) {
    const std::size_t end = std::min(key.kind.find(", ", begin), key.kind.size());
    names.push_back(key.kind.substr(begin, end - begin));
    begin = end + 2;
  }
  return "\"" + names[static_cast<std::size_t>(choices.below(names.size()))] + "\"";
}

std::vector<const ScenarioKey*> options_of(std::string_view strategy) {
  std::vector<const ScenarioKey*> options;
  for (const ScenarioKey& key : scenario_keys())
    if (std::ranges::find(key.strategies, strategy) != key.strategies.end()) options.push_back(&key);
  return options;
}

/// Of the tables whose keys stand for themselves.
const std::vector<const ScenarioKey*>& other_keys() {
  static const std::vector<const ScenarioKey*> keys = [] {
    std::vector<const ScenarioKey*> found;
    for (const ScenarioKey& key : scenario_keys()) {
      const bool is_free = key.name.starts_with("nccl.") || key.name.starts_with("loop.") ||
                           key.name.starts_with("data.") || key.name.starts_with("framework.") ||
                           key.name == "model.half_weights" || key.name == "model.weight_decay" ||
                           key.name == "model.optimizer_form" || key.name == "strategy.accumulation";
      if (is_free && key.name != "data.name" && key.name != "framework.name") found.push_back(&key);
    }
    return found;
  }();
  return keys;
}

/// Numbers of GPUs that a strategy can use: one process has one node, one per node all GPUs of each.
int usable_gpus(const StrategyEntry& strategy, const MadeCluster& cluster, Choices& choices) {
  const int nodes = choices.between(1, cluster.nodes), gpus = choices.between(1, cluster.gpus_per_node);
  if (strategy.one_gpu) return 1;
  if (strategy.processes == Processes::one || nodes == 1) return gpus;
  return nodes * cluster.gpus_per_node;
}

std::string scenario_text(const StrategyEntry& strategy, int gpus, Units units, Choices& choices) {
  const std::string_view layout = choices.one_of({"packed", "packed", "spread"}),
                         precision = choices.one_of({"fp32", "amp_fp16", "bf16"}),
                         optimizer = choices.one_of({"sgd", "momentum", "adam", "adamw", "lamb"}),
                         batch = choices.one_of({"batch_per_gpu", "batch_per_gpu", "global_batch"});
  const int batch_size = 1 << choices.between(3, 8), epochs = choices.between(1, 3),
            tens_of_thousands = choices.between(1, 20);
  std::string text = fmt::format("[cluster]\nname = \"made\"\nlayout = \"{}\"\n",
                                 strategy.processes == Processes::per_gpu ? layout : "packed");
  text += fmt::format(
      "[model]\nname = \"made\"\nprecision = \"{}\"\noptimizer = \"{}\"\n{} = {}\n[run]\ngpus = [{}]\nepochs "
      "= {}\n",
      precision, optimizer, batch, batch == "global_batch" ? batch_size * gpus : batch_size, gpus, epochs);
  text += fmt::format("[data]\nsamples = {}0000\nsample_bytes = \"{}\"\ndecode = \"{}\"\n", tens_of_thousands,
                      units == Units::usual ? "150 kB" : "150000 B",
                      units == Units::usual ? "0.25 ms" : "250 us");
  text += fmt::format("[loop]\noverhead = \"{}\"\n[strategy]\nname = \"{}\"\n",
                      units == Units::usual ? "20 us" : "0.02 ms", strategy.name);
  if (strategy.framework) return text;
  return text + (choices.one_in(4) ? "[framework]\nname = \"tensorflow\"\n" : "");
}

std::vector<std::string> settings_of(std::string_view strategy, Choices& choices) {
  constexpr int kMostOptions = 3, kMostOthers = 4;
  std::vector<std::string> settings;
  const auto add = [&](const std::vector<const ScenarioKey*>& keys, int most) {
    for (int count = keys.empty() ? 0 : choices.between(0, most); count > 0; --count) {
      const ScenarioKey& key = *keys[static_cast<std::size_t>(choices.below(keys.size()))];
      settings.push_back(key.name + "=" + value_of(key, choices));
    }
  };
  add(options_of(strategy), kMostOptions);
  add(other_keys(), kMostOthers);
  return settings;
}

}  // namespace

MadeScenario make_scenario_texts(Choices& choices, Units units) {
  MadeScenario made;
  const MadeCluster cluster = make_cluster(choices, units);
  made.cluster = cluster.text;
  made.model = make_model(choices);
  const StrategyEntry& strategy =
      strategy_catalog()[static_cast<std::size_t>(choices.below(strategy_catalog().size()))];
  made.scenario = scenario_text(strategy, usable_gpus(strategy, cluster, choices), units, choices);
  made.settings = settings_of(strategy.name, choices);
  return made;
}

Scenario read_made(const MadeScenario& made) {
  OpenedCatalogs opened;
  opened.clusters.emplace("made",
                          read_or_throw(SourceText{"cluster.toml", made.cluster}, read_uncalibrated_cluster));
  opened.clusters.at("made").name = "made";
  ModelFile file = read_or_throw(SourceText{"model.toml", made.model}, read_model_file);
  opened.models.emplace(
      "made", OpenedModel{file.model, std::make_shared<const ExpandedModel>(std::move(file.expanded))});
  const SourceText source{"scenario.toml", made.scenario};
  ScenarioOverrides overrides;
  Scenario scenario = read_scenario(source, overrides, opened);
  for (const std::string& setting : made.settings) {
    overrides.settings.push_back(setting);
    try {
      scenario = read_scenario(source, overrides, opened);
    } catch (const InputError&) {
      overrides.settings.pop_back();  // does not go with those before
    }
  }
  return scenario;
}

}  // namespace foretrain::test
