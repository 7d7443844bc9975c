// The evaluation loop: a training step without backward and optimizer.
//
// Without autograd a call costs the host somewhat less. The model does not count that difference.
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

/// Plans `request.steps` batches of a validation pass. A step ends with the last kernel of its forward pass.
Plan plan_evaluation(const PlanRequest& request) {
  Plan plan;
  Process process(request, plan.graph);
  TrainingStep step(process);
  step.keep_no_activations();
  for (int i = 0; i < request.steps; ++i) {
    step.load_batch();
    step.forward();
    plan.step_ends.push_back(process.last_kernel());
    step.finish_step();
  }
  plan.decisions = process.decisions();
  return plan;
}

}  // namespace foretrain
