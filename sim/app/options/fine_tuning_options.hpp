// Options of fine-tuning: adapters, how weights are stored, the length of samples.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// --adapters, --weights, --sequence.
void add_fine_tuning(CLI::App& command, ScenarioOverrides& overrides);

/// --gpu: a machine with the GPUs of that name instead of a cluster.
void add_gpu(CLI::App& command, ScenarioOverrides& overrides);

}  // namespace foretrain
