// All keys of a scenario. The sections are in the order of the reference page; their keys are declared where
// they are read.
#include "sim/scenario/sections/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/sections/cluster_section.hpp"
#include "sim/scenario/sections/collective_sections.hpp"
#include "sim/scenario/sections/data_section.hpp"
#include "sim/scenario/sections/fine_tuning_section.hpp"
#include "sim/scenario/sections/framework_section.hpp"
#include "sim/scenario/sections/launch_section.hpp"
#include "sim/scenario/sections/loop_section.hpp"
#include "sim/scenario/sections/model_section.hpp"
#include "sim/scenario/sections/parallel_section.hpp"
#include "sim/scenario/sections/run_sections.hpp"
#include "sim/scenario/sections/strategy_section.hpp"
#include "sim/scenario/sections/study_section.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns a key with its table, as the reference page shows it.
template <class Target>
ScenarioKey described(std::string_view table, const Key<Target>& key) {
  return {table.empty() ? std::string(key.name) : fmt::format("{}.{}", table, key.name), key.takes.kind,
          std::string(key.example), std::string(key.fallback), std::string(key.meaning)};
}

/// Appends the keys of one table.
template <class Target>
void add_keys(std::vector<ScenarioKey>& all, std::string_view table, const Keys<Target>& keys) {
  for (const Key<Target>& key : keys) all.push_back(described(table, key));
}

/// Adds every option of strategies once, with all strategies that have it.
void add_knobs(std::vector<ScenarioKey>& keys) {
  for (const Knob& knob : shared_knobs()) keys.push_back(described("strategy", key_of(knob)));
  const std::size_t first = keys.size();
  for (const StrategyEntry& strategy : strategy_catalog()) {
    for (const Knob& knob : strategy.knobs) {
      ScenarioKey key = described("strategy", key_of(knob));
      const auto known = std::find_if(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(),
                                      [&](const ScenarioKey& k) { return k.name == key.name; });
      if (known == keys.end()) {
        key.strategies.emplace_back(strategy.name);
        keys.push_back(std::move(key));
      } else {
        known->strategies.emplace_back(strategy.name);
      }
    }
  }
}

/// Adds the short names of [study].
void add_study(std::vector<ScenarioKey>& keys) {
  for (const StudyName& row : study_names())
    keys.push_back({fmt::format("study.{}", row.name), "list", std::string(row.example),
                    std::string(row.fallback), std::string(row.meaning.empty() ? row.key : row.meaning)});
}

/// The order is that of the reference page.
std::vector<ScenarioKey> all_keys() {
  std::vector<ScenarioKey> keys;
  add_keys(keys, "", document_keys());
  add_keys(keys, "model", model_keys());
  add_keys(keys, "model.adapters", adapter_keys());
  add_keys(keys, "framework", framework_keys());
  add_keys(keys, "data", data_keys());
  add_keys(keys, "strategy", strategy_keys());
  add_knobs(keys);
  add_keys(keys, "parallel", parallel_keys());
  add_keys(keys, "nccl", nccl_keys());
  add_keys(keys, "launch", launch_keys());
  add_keys(keys, "launch.slow_draw", slow_draw_keys());
  add_keys(keys, "cluster", cluster_keys());
  add_keys(keys, "run", run_keys());
  add_keys(keys, "run.every.validation", periodic_keys());
  add_keys(keys, "loop", loop_keys());
  add_keys(keys, "measured", measured_keys());
  add_study(keys);
  return keys;
}

}  // namespace

/// The list is built once, on first use.
const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = all_keys();
  return keys;
}

/// `note` is the only key outside of tables.
const Keys<Scenario>& document_keys() {
  static const Keys<Scenario> keys{
      {"note",
       {"text", [](TableReader& document, std::string_view key,
                   Scenario& scenario) { scenario.note = document.lines(key).value_or(""); }},
       "\"from the tutorial\"",
       "none",
       "shown under the table"}};
  return keys;
}

}  // namespace foretrain
