// One row per strategy.
#include "sim/strategy/catalog.hpp"

#include "sim/strategy/ddp.hpp"
#include "sim/strategy/single.hpp"

namespace foretrain {

const std::vector<StrategyEntry>& strategy_catalog() {
  static const std::vector<StrategyEntry> rows{
      {"single", "the plain training loop on one GPU", plan_single},
      {"ddp", "PyTorch DistributedDataParallel: buckets all-reduced during backward", plan_ddp},
  };
  return rows;
}

const StrategyEntry* find_strategy(std::string_view name) {
  for (const StrategyEntry& row : strategy_catalog()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyEntry& row : strategy_catalog()) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain
