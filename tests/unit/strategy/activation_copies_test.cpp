// Copies of activations in a step: their number, where they run, and what they cost.
#include "sim/strategy/step/activation_copies.hpp"

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace activation_copies_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan recomputed(ActivationOffload how) {
  Model model = read_or_throw(*open_named(CatalogKind::models, "gpt2"), read_model);
  SmallPlan small(model, 4);
  small.workload.recompute = true, small.workload.offload_activations = how;
  small.workload.model =
      std::make_shared<const ExpandedModel>(as_trained(*small.workload.model, small.workload));
  small.steps = 3;
  return small;
}

std::vector<TaskId> copies(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::copy, "activations to and from the host");
}

}  // namespace

TEST_CASE("each block's input goes to the host and comes back, on the compute stream") {
  const SmallPlan plain = recomputed(ActivationOffload::none),
                  moved = recomputed(ActivationOffload::checkpoints);
  const test::Ran ran = run_plan(moved, "single");
  CHECK(copies(run_plan(plain, "single").plan).empty());
  CHECK(copies(ran.plan).size() == 3 * 2 * 12);
  const double bytes = 4.0 * 1024 * 768 * 4;  // fp32
  CHECK(ran.plan.graph.tasks()[copies(ran.plan).front()].traffic.count == static_cast<std::int64_t>(bytes));
  // Nothing overlaps: 24 copies over 98.4 GB/s of PCIe.
  const double more = ran.last_step_s() - run_plan(plain, "single").last_step_s();
  CHECK(more > 0.95 * 24 * bytes / 98.4e9);
}

TEST_CASE("a stream of its own hides what the compute stream leaves time for") {
  const double none = run_plan(recomputed(ActivationOffload::none), "single").last_step_s(),
               serial = run_plan(recomputed(ActivationOffload::checkpoints), "single").last_step_s(),
               beside = run_plan(recomputed(ActivationOffload::saved_tensors), "single").last_step_s();
  CHECK(none <= beside);
  CHECK(beside < serial);
}

TEST_CASE("micro-steps copy anew, and an evaluation copies nothing") {
  SmallPlan moved = recomputed(ActivationOffload::checkpoints);
  moved.knobs.accumulation = 2;
  CHECK(copies(run_plan(moved, "single").plan).size() == 3 * 2 * 2 * 12);
  const Placement placement = place_packed(1, moved.spec.node.gpus);
  const Cluster cluster = Cluster::build(moved.spec, 1);
  const Plan evaluation = plan_evaluation({moved.workload, cluster, placement, moved.knobs, moved.device, 2,
                                           moved.collective, nullptr, calls_of(moved.spec)});
  CHECK(copies(evaluation).empty());
}

}  // namespace activation_copies_test
