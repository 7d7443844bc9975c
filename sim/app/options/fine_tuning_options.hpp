// Options of fine-tuning: adapters, how weights are stored, the length of samples.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// --adapters, --weights, --sequence.
void add_fine_tuning(CLI::App& command, ScenarioOverrides& overrides);

/// --gpu: a machine with the GPUs of that name instead of a cluster.
void add_gpu(CLI::App& command, ScenarioOverrides& overrides);

}  // namespace foretrain
