// AdaptDL's measure of gradient noise in a step.
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace gradient_noise_test {

using namespace foretrain;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan measuring(int gpus) {
  SmallPlan small;
  small.gpus = gpus;
  small.workload.loop.hooks = LoopHooks::gradient_noise;
  return small;
}

std::size_t kernels_of_a_step(const SmallPlan& small, std::string_view strategy) {
  return tasks_labelled(plan_of(small, strategy).graph, TaskKind::kernel, "gradient noise").size() /
         static_cast<std::size_t>(small.steps);
}

constexpr std::size_t kTensors = 8;  // of the MNIST network

}  // namespace

TEST_CASE("on one GPU gradient noise takes 18 kernels a tensor") {
  // In backward 4: square, sum, add, store. After it two scalings, three times square, sum and add, the mean
  // of two (add, scale), a copy.
  CHECK(kernels_of_a_step(measuring(1), "single") == 18 * kTensors);
  CHECK(kernels_of_a_step(SmallPlan(), "single") == 0);
}

TEST_CASE("on several GPUs gradient noise takes 9 kernels a tensor and one small all_reduce") {
  CHECK(kernels_of_a_step(measuring(2), "ddp") == 9 * kTensors);
  SmallPlan plain = measuring(2);
  plain.workload.loop.hooks = LoopHooks::none;
  const auto collectives = [](const SmallPlan& small) {
    std::size_t count = 0;
    const Plan plan = plan_of(small, "ddp");
    for (const Task& task : plan.graph.tasks()) count += task.kind == TaskKind::collective ? 1 : 0;
    return count;
  };
  CHECK(collectives(measuring(2)) == collectives(plain) + static_cast<std::size_t>(plain.steps));
}

TEST_CASE("measuring gradient noise makes a step longer") {
  CHECK(run_plan(measuring(1), "single").last_step_s() >
        run_plan(SmallPlan(), "single").last_step_s() + 1e-4);
}

}  // namespace gradient_noise_test
