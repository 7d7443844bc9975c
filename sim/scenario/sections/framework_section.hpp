// The tables [framework] and [loop], and the optimizer's keys of [model], whose defaults the framework's
// version decides.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// Reads [framework], and sets what follows from it where no key says otherwise: zero_grad and the loop's
/// hooks. Before all others here.
void read_framework(TableReader& framework, Scenario& scenario);
/// model.optimizer, model.optimizer_form and model.weight_decay; a form that the framework lacks is a
/// mistake.
void read_optimizer(TableReader& model, Scenario& scenario);
void read_loop(TableReader& loop, Scenario& scenario);

}  // namespace foretrain
