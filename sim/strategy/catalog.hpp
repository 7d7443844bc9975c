// The strategies: a table of functions, one row and one file each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  PlanFunction plan;
};

/// Every strategy, in the order of the documentation.
const std::vector<StrategyEntry>& strategy_catalog();
/// The row of that name; nullptr when there is none.
const StrategyEntry* find_strategy(std::string_view name);
std::vector<std::string> strategy_names();

}  // namespace foretrain
