// How a job was started: launch.with, launch.processes_per_node, data.sampler; and whether the strategy runs
// on the GPUs asked for.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// launch.with, and launch.processes_per_node once more; needs strategy and cluster.
void read_launcher(TableReader& launch, Scenario& scenario);
/// data.sampler.
void read_sampler(TableReader& data, Scenario& scenario);
/// Numbers of GPUs on which the strategy cannot run are mistakes when run.gpus lists them, and otherwise left
/// out with a warning.
void check_gpus(TableReader& run, Scenario& scenario);
/// It must also be able to run on those of [measured].
void check_anchor(TableReader& measured, const Scenario& scenario);

}  // namespace foretrain
