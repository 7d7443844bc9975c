// torch.nn.DataParallel around the network. Nothing overlaps: the broadcast precedes forward, the sum follows
// backward, and both use the compute streams. All work but that of the replicas is on GPU 0.
//
// nn.DataParallel has one process and one Python interpreter. Threads of replicas hold the interpreter's lock
// for each call, so launches for n GPUs take n times as long as for one. Weights are copied to all GPUs in
// every forward pass, and gradients are summed on GPU 0. That is why a small network on four GPUs can be
// slower than on one.
#include "sim/strategy/replicas/data_parallel.hpp"

#include "sim/strategy/replicas/data_parallel_steps.hpp"

namespace foretrain {

Plan plan_data_parallel(const PlanRequest& request) {
  Plan plan;
  DataParallelSteps(request, plan, {wrap_network(*request.workload.model)}).run();
  return plan;
}

StrategyEntry data_parallel_strategy() {
  return {
      .name = "data_parallel",
      .summary =
          "PyTorch nn.DataParallel: one process, the network copied to every GPU of the node in each step",
      .plan = plan_data_parallel,
      .processes = Processes::one,
      .framework = FrameworkKind::pytorch,
      .alias = "dp"};
}

}  // namespace foretrain
