// The table [data]: the data set, from a preset or key by key, and its loader; what must fit the cluster and
// the batch.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

const Keys<Scenario>& data_keys();
/// Reads [data] over the preset it names; needs the cluster to be read. Does not call finish().
void read_data(TableReader& data, Scenario& scenario);
/// Reports numbers of GPUs whose epoch has no step, because drop_last leaves out their only batch. Needs
/// batch and GPUs to be read.
void check_steps(TableReader& data, const Scenario& scenario);
/// What works but is hardly meant: more workers than cores, a batch larger than the data set.
std::vector<std::string> data_warnings(const Scenario& scenario);

}  // namespace foretrain
