// Strategy `parameter_server`: variables are kept by servers, or in one place of the node. GPUs fetch them
// and send gradients.
#pragma once

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Plans training with parameter servers. One worker process per node drives the node's GPUs and adds up
/// their gradients, in host memory or (server_on_gpu) each tensor on one of the GPUs. On one node the
/// optimizer runs there. On more nodes, servers add up the workers' sums and update the variables
/// (docs/models/replicated.md). With TensorFlow a step fetches its variables at its start; otherwise,
/// as in MXNet, each variable comes back as soon as it is updated.
Plan plan_parameter_server(const PlanRequest& request);
/// Returns the catalog row of `parameter_server`.
StrategyEntry parameter_server_strategy();

}  // namespace foretrain
