// Options of fine-tuning: adapters, how weights are stored, and the length of samples.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds --adapters, --weights and --sequence.
void add_fine_tuning(CLI::App& command, ScenarioOverrides& overrides);

/// Adds --gpu, which takes a machine with GPUs of that name in place of a cluster.
void add_gpu(CLI::App& command, ScenarioOverrides& overrides);

}  // namespace foretrain
