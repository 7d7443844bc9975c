// The [strategy] table: a name of the catalog and the options its row names.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// strategy.name; the options are rows of the strategies' catalog.
const Keys<Scenario>& strategy_keys();
/// An option as a key of [strategy].
Key<StrategyOptions> key_of(const Knob& knob);

/// strategy.name alone, which decides the default framework.
void read_strategy_name(TableReader& strategy, Scenario& scenario);
/// The options. One of another strategy is a mistake with the nearest of this one; but when the command line
/// has replaced the name, it is left out with a warning.
void read_strategy_knobs(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario);
/// What strategy.param_dtype of FSDP says of the workload: its precision, and weights of 16 bits. Requires
/// that [model] and the options are read.
void settle_param_type(TableReader& strategy, const ScenarioDocument& document, Scenario& scenario);

}  // namespace foretrain
