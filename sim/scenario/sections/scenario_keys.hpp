// Every key of a scenario with its kind, default and meaning, for the reference page, studies and rules.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// A key that a scenario may have, as the reference page and `--set` know it.
struct ScenarioKey {
  std::string name;  ///< "strategy.bucket_cap"
  std::string kind;
  std::string example;   ///< a value the schema accepts, as TOML
  std::string fallback;  ///< what holds when the key is missing
  std::string meaning;
  /// That have it; empty: it is no option of a strategy, or every strategy's.
  std::vector<std::string> strategies{};
};

const std::vector<ScenarioKey>& scenario_keys();

/// Keys that stand in no table.
const Keys<Scenario>& document_keys();

}  // namespace foretrain
