// The strategies: a table of functions, one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Every strategy, in the order of the documentation.
const std::vector<StrategyEntry>& strategy_catalog();
/// The row of that name or alias, as spelt_alike(); nullptr when there is none.
const StrategyEntry* find_strategy(std::string_view name);
std::vector<std::string> strategy_names();
/// All that a row is found by.
std::vector<std::string> names_and_aliases();
/// The options of every strategy.
const std::vector<Knob>& shared_knobs();
/// What a script of this framework would need to run the strategy; empty when it has it.
std::string what_it_needs(const StrategyEntry& strategy, FrameworkKind framework);
/// Why a job of this shape cannot run the strategy, in words; empty when it can.
std::string why_not(const StrategyEntry& strategy, const Placement& placement);

}  // namespace foretrain
