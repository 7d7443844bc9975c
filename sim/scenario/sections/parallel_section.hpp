// The table [parallel]: degrees of a large model, its micro-batches, schedule, sharding and framework.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// `data` 0 means: what the GPUs leave; `global_batch` 0: as job_on() fills it in.
const Keys<LargeModelRun>& parallel_keys();

/// A setting "parallel.tensor" of a measured row; others are left alone. Throws InputError for a value that
/// the key does not take.
void set_parallel(const std::string& key, const std::string& value, LargeModelRun& job);

/// Reads [parallel] of a scenario whose model, cluster and numbers of GPUs are read; reports what does not
/// fit at its key. Numbers of GPUs that nobody listed become those that the degrees can use.
void read_parallel(TableReader& parallel, Scenario& scenario);

}  // namespace foretrain
