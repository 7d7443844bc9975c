// torch.nn.DataParallel around each layer: activations cross the links between every two layers.
#include "sim/strategy/replicas/data_parallel.hpp"
#include "sim/strategy/replicas/data_parallel_steps.hpp"

namespace foretrain {

Plan plan_data_parallel_layers(const PlanRequest& request) {
  Plan plan;
  DataParallelSteps(request, plan, wrap_layers(*request.workload.model)).run();
  return plan;
}

StrategyEntry data_parallel_layers_strategy() {
  return {.name = "data_parallel_layers",
          .summary = "PyTorch nn.DataParallel around each layer by itself",
          .plan = plan_data_parallel_layers,
          .processes = Processes::one,
          .framework = FrameworkKind::pytorch,
          .needs = "nn.DataParallel put around every layer by hand"};
}

}  // namespace foretrain
