// Every key of a scenario with its kind, default and meaning, for the reference page, studies and rules.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// A key that a scenario may have, as the reference page and `--set` know it.
struct ScenarioKey {
  /// Name with its table, such as "strategy.bucket_cap".
  std::string name;
  std::string kind;
  /// A value that the schema accepts, as TOML.
  std::string example;
  /// The value that holds when the key is missing.
  std::string fallback;
  std::string meaning;
  /// Strategies that have the key; empty: it is no option of a strategy, or one of every strategy.
  std::vector<std::string> strategies{};
};

/// Returns all keys, in the order of the reference page.
const std::vector<ScenarioKey>& scenario_keys();

/// Returns the keys that are in no table.
const Keys<Scenario>& document_keys();

}  // namespace foretrain
