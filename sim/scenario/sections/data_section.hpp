// The table [data]: the data set, from a preset or key by key, its loader, and checks against cluster and
// batch.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Returns the declared keys of [data].
const Keys<Scenario>& data_keys();
/// Reads [data] over the preset that it names, without calling finish(). Requires that the cluster is read.
void read_data(TableReader& data, Scenario& scenario);
/// Reports numbers of GPUs whose epoch has no step, because drop_last omits their only batch. Requires that
/// batch and GPUs are read.
void check_steps(TableReader& data, const Scenario& scenario);
/// Returns warnings about settings that work but are hardly meant: more workers than cores, a batch larger
/// than the data set.
std::vector<std::string> data_warnings(const Scenario& scenario);

}  // namespace foretrain
