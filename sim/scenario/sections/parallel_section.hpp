// The table [parallel]: degrees of a large model, its micro-batches, schedule, sharding and framework.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// Returns the declared keys. `data` 0 means the degree that the other degrees leave for the GPUs;
/// `global_batch` 0 is replaced by job_on().
const Keys<LargeModelRun>& parallel_keys();

/// Applies a setting such as "parallel.tensor" of a measured row; keys of other tables are ignored. Throws
/// InputError for a value that the key does not take.
void set_parallel(const std::string& key, const std::string& value, LargeModelRun& job);

/// Reads [parallel] of a scenario whose model, cluster and numbers of GPUs are read. Reports values that do
/// not fit at their keys. Numbers of GPUs that are defaults become those that the degrees can use.
void read_parallel(TableReader& parallel, Scenario& scenario);

}  // namespace foretrain
