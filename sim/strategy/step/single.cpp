// Strategy `single`: the plain training loop on one GPU. It is the loop that the other strategies extend.
#include "sim/strategy/step/single.hpp"

#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

Plan plan_single(const PlanRequest& request) {
  Plan plan;
  Process process(request, plan.graph);
  TrainingStep step(process);
  for (int i = 0; i < request.steps; ++i) {
    for (int micro = 0; micro < request.knobs.accumulation; ++micro) {
      // Gradients are cleared once per optimizer step. Later micro-steps add to those of the first.
      step.load_batch();
      if (micro == 0) step.zero_gradients();
      step.forward();
      step.backward(micro > 0, nullptr);
    }
    plan.step_ends.push_back(step.optimize());
    step.finish_step();
  }
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry single_strategy() {
  return {.name = "single",
          .summary = "the plain training loop on one GPU",
          .plan = plan_single,
          .one_gpu = true};
}

}  // namespace foretrain
