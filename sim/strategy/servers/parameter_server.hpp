// Strategy `parameter_server`: variables are kept by servers, or in one place of the node; GPUs fetch them
// and hand in gradients.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One worker process per node drives the node's GPUs and adds up their gradients, in host memory or
/// (server_on_gpu) each tensor on one of the GPUs. On one node the optimizer runs there; on more, servers add
/// up the workers' sums and update the variables (docs/models/parameter_server.md). With TensorFlow a step
/// fetches its variables at its start; otherwise, as in MXNet, each comes back as soon as it is updated.
Plan plan_parameter_server(const PlanRequest& request);
StrategyEntry parameter_server_strategy();

}  // namespace foretrain
