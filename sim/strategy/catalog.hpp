// The catalog of strategies: a table of functions, with one row and one file for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Returns every strategy, in the order of the documentation.
const std::vector<StrategyEntry>& strategy_catalog();
/// Returns the row of that name or alias, in any spelling that spelt_alike() accepts; nullptr when there is
/// none.
const StrategyEntry* find_strategy(std::string_view name);
/// Returns the names of all rows, without aliases.
std::vector<std::string> strategy_names();
/// Returns all names and aliases by which a row is found.
std::vector<std::string> names_and_aliases();
/// Returns the options that every strategy has.
const std::vector<Knob>& shared_knobs();
/// Returns what a script of this framework would need to run the strategy, in words; empty when it needs
/// nothing.
std::string what_it_needs(const StrategyEntry& strategy, FrameworkKind framework);
/// Returns the reason why a job of this shape cannot run the strategy, in words; empty when it can.
std::string why_not(const StrategyEntry& strategy, const Placement& placement);

}  // namespace foretrain
