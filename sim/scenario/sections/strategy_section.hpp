// The table [strategy]: a name of the catalog, and the options that its row names.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Returns the key strategy.name. The options are rows of the strategies' catalog.
const Keys<Scenario>& strategy_keys();
/// Returns an option as a key of [strategy].
Key<StrategyOptions> key_of(const Knob& knob);

/// Reads strategy.name alone, which decides the default framework.
void read_strategy_name(TableReader& strategy, Scenario& scenario);
/// Reads the options. An option of another strategy is a mistake with the nearest of this one as a hint. If
/// the command line has replaced the name, it is ignored with a warning.
void read_strategy_knobs(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario);
/// Applies FSDP's strategy.param_dtype to the workload: its precision, and weights of 16 bits. Requires that
/// [model] and the options are read.
void settle_param_type(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario);

}  // namespace foretrain
