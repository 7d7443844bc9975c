// Every key of a scenario with its kind, default and meaning: the reference page, and a test that the schema knows exactly these.
#pragma once

#include <string_view>
#include <vector>

namespace foretrain {

struct ScenarioKey {
  std::string_view name;  ///< "strategy.bucket_cap"
  std::string_view kind;
  std::string_view example;   ///< a value the schema accepts, as TOML
  std::string_view fallback;  ///< what holds when the key is missing
  std::string_view meaning;
};

const std::vector<ScenarioKey>& scenario_keys();

}  // namespace foretrain
