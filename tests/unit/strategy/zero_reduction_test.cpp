// DeepSpeed's gradient buckets: when they are reduced, with what, on which stream.
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace zero_reduction_test {

using namespace foretrain;
using test::blocks_on;
using test::kernels_per_step;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::Sent;
using test::sent_per_step;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::int64_t kAll = 6 * kLinear;  // stem, four blocks, head

SmallPlan with_bucket(std::int64_t elements) {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<ZeroOptions>().reduce_bucket_size = elements;
  return small;
}

SmallPlan overlapping(SmallPlan small) {
  small.knobs.edit<ZeroOptions>().overlap_comm = true;
  return small;
}

/// When the first reduction of the fourth step begins, and its backward pass ends.
struct Moments {
  Time reduction, backward_end;
};
Moments moments_of(const test::Ran& ran, std::string_view label) {
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, label);
  const auto stem = tasks_labelled(ran.plan.graph, TaskKind::kernel, "stem");
  const std::size_t steps = ran.plan.step_ends.size();
  return {ran.timeline.spans[sent[3 * sent.size() / steps]].start,
          ran.timeline.end_of(stem[4 * stem.size() / steps - 1])};
}

}  // namespace

TEST_CASE("by default there is one bucket for everything, reduced when backward has ended") {
  for (const char* strategy : {"zero0", "zero1", "zero2"}) {
    INFO(strategy);
    const test::Ran ran = run_plan(blocks_on(4), strategy);
    CHECK(ran.plan.buckets == std::vector<Bytes>{{4 * kAll}});
    CHECK(sent_per_step(ran.plan, "all_reduce of gradients") == Sent{4 * kAll, 1});
    const Moments moments = moments_of(ran, "all_reduce of gradients");
    CHECK(moments.reduction >= moments.backward_end);
  }
}

TEST_CASE("a gradient that does not fit any more closes the bucket first") {
  // Two layers and one bias: the weight of the third does not fit.
  const Plan plan = plan_of(with_bucket(2 * kLinear + 1024), "zero2");
  // Backward hands over bias, then weight, of head, block 3, block 2, …
  CHECK(plan.buckets ==
        std::vector<Bytes>{{4 * (2 * kLinear + 1024)}, {4 * 2 * kLinear}, {4 * (2 * kLinear - 1024)}});
}

TEST_CASE("a parameter larger than the bucket is reduced alone and not copied") {
  const Plan plan = plan_of(with_bucket(2048), "zero2");
  // Two of the three borders between partitions cut a weight; the third lies between two layers.
  CHECK(sent_per_step(plan, "all_reduce of gradients") == Sent{4 * kAll, 14});
  CHECK(kernels_per_step(plan, "gradient to bucket") == 6);  // the biases
}

TEST_CASE("stage 2 reduces full buckets during backward, stage 1 waits for its end") {
  const Moments two = moments_of(run_plan(with_bucket(kLinear), "zero2"), "all_reduce of gradients");
  CHECK(two.reduction < two.backward_end);
  const Moments one = moments_of(run_plan(with_bucket(kLinear), "zero1"), "all_reduce of gradients");
  CHECK(one.reduction >= one.backward_end);
  const Moments beside =
      moments_of(run_plan(overlapping(with_bucket(kLinear)), "zero1"), "all_reduce of gradients");
  CHECK(beside.reduction < beside.backward_end);
}

TEST_CASE("without overlap_comm small buckets stop the compute stream") {
  SmallPlan inline_ = with_bucket(kLinear), beside = overlapping(with_bucket(kLinear));
  for (SmallPlan* small : {&inline_, &beside}) small->device.kernel.time_scale = 100;
  const double exposed = run_plan(inline_, "zero2").share(Account::exposed_communication);
  const double overlapped = run_plan(beside, "zero2").share(Account::exposed_communication);
  // Six buckets in the open, or with overlap only the last; both then wait for the weights.
  CHECK(overlapped < 0.75 * exposed);
}

TEST_CASE("the whole bucket is all-reduced in stages 1 and 2, reduce-scattered in stage 3") {
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero2"), "all_reduce of gradients").bytes == 4 * kAll);
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero2"), "reduce_scatter").count == 0);
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero3"), "reduce_scatter of gradients") == Sent{4 * kAll, 1});
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero3"), "all_reduce of gradients").count == 0);
}

TEST_CASE("stage 0 copies the sum back into every gradient, stage 1 keeps its slice") {
  CHECK(kernels_per_step(plan_of(blocks_on(4), "zero0"), "own slice of gradients") == 12);
  CHECK(kernels_per_step(plan_of(blocks_on(4), "zero1"), "own slice of gradients") == 1);
  CHECK(kernels_per_step(plan_of(blocks_on(4), "zero1"), "gradient to bucket") == 12);
}

TEST_CASE("on one GPU the bucket is divided but there are no slices to pack") {
  CHECK(kernels_per_step(plan_of(blocks_on(4), "zero1"), "divide and pack gradients") == 2);
  CHECK(kernels_per_step(plan_of(blocks_on(1), "zero1"), "divide and pack gradients") == 1);
}

TEST_CASE("stages 2 and 3 reduce in every micro-step, 0 and 1 in the last") {
  SmallPlan small = blocks_on(4);
  small.knobs.accumulation = 3;
  CHECK(sent_per_step(plan_of(small, "zero0"), "all_reduce of gradients").count == 1);
  CHECK(sent_per_step(plan_of(small, "zero1"), "all_reduce of gradients").count == 1);
  CHECK(sent_per_step(plan_of(small, "zero2"), "all_reduce of gradients").count == 3);
  CHECK(sent_per_step(plan_of(small, "zero3"), "reduce_scatter of gradients").count == 3);
  CHECK(plan_of(small, "zero2").buckets.size() == 3);
}

TEST_CASE("stages 0 and 1 add gradients of micro-steps whole, the others add their slices") {
  SmallPlan small = blocks_on(4);
  small.knobs.accumulation = 2;
  const auto added = [&](const char* strategy) {
    const Plan plan = plan_of(small, strategy);
    std::size_t count = 0;
    for (const TaskId id : tasks_labelled(plan.graph, TaskKind::kernel, "gradient"))
      count += plan.graph.label_text(plan.graph.tasks()[id].label) == "gradient" ? 1 : 0;
    return count / plan.step_ends.size();
  };
  CHECK(added("zero0") == 12);
  CHECK(added("zero1") == 12);
  CHECK(added("zero2") == 0);
  CHECK(added("zero3") == 0);
  CHECK(kernels_per_step(plan_of(small, "zero2"), "own slice of gradients") == 3);  // two reductions, one sum
}

TEST_CASE("whatever the script's zero_grad does, DeepSpeed's gradients are new in every step") {
  SmallPlan kept = blocks_on(4);
  kept.workload.loop.zero_grad = TrainingLoop::ZeroGrad::none;
  const Plan plan = plan_of(kept, "zero1"), usual = plan_of(blocks_on(4), "zero1");
  CHECK(plan.graph.tasks().size() == usual.graph.tasks().size());
}

TEST_CASE("in stage 3 the host is at most two reductions ahead") {
  SmallPlan small = with_bucket(kLinear);
  small.device.kernel.time_scale = 200;
  const test::Ran ran = run_plan(small, "zero3");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "reduce_scatter");
  REQUIRE(sent.size() == 6 * ran.plan.step_ends.size());
  // The fourth reduction's call comes after the first reduction has run.
  const TaskId fourth = sent[3 * 6 + 3], first = sent[3 * 6];
  CHECK(ran.timeline.spans[fourth].start > ran.timeline.end_of(first));
}

TEST_CASE("with offload each slice goes to host memory") {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  const Plan plan = plan_of(small, "zero2");
  const auto copies = tasks_labelled(plan.graph, TaskKind::copy, "gradients to host memory");
  REQUIRE(copies.size() == plan.step_ends.size());
  CHECK(plan.graph.tasks()[copies[0]].traffic.count == 4 * kAll / 4);
}

TEST_CASE("with offload sums of micro-steps lie on the host and come back to be added") {
  SmallPlan small = blocks_on(4);
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  small.knobs.accumulation = 3;
  small.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  const Plan plan = plan_of(small, "zero2");
  std::int64_t bytes = 0;
  for (const TaskId task : tasks_labelled(plan.graph, TaskKind::copy, "gradients to host memory"))
    bytes += plan.graph.tasks()[task].traffic.count;
  // Down 2, up 2 and down 2, up 2 and down 2 and, in fp32, 4 bytes for each parameter of the quarter.
  CHECK(bytes == static_cast<std::int64_t>(plan.step_ends.size()) * 14 * kAll / 4);
}

TEST_CASE("a bucket is cut at the borders of partitions and sent when it has more than a bucket") {
  // Two layers of 1024 x 1024 + 1024, cut in four: each partition has half a layer. The first bucket is the
  // last layer's weight alone, whose three cuts are larger than the bucket each but for the last.
  SmallPlan small = blocks_on(4, 0);
  small.knobs.edit<ZeroOptions>().reduce_bucket_size = 300'000;
  constexpr std::int64_t kOwn = kLinear / 2, kWeight = 1024 * 1024;
  const Plan plan = plan_of(small, "zero2");
  // Backward: bias of head; then its weight, of which partition 2 has a whole one and partition 3 the rest
  // without the bias; then the same of the stem.
  CHECK(plan.buckets ==
        std::vector<Bytes>{
            {4 * 1024}, {4 * kOwn}, {4 * (kWeight - kOwn)}, {4 * 1024}, {4 * kOwn}, {4 * (kWeight - kOwn)}});
}

TEST_CASE("without the all-reduce of several ranks' slices each slice is reduced to its rank") {
  SmallPlan small = blocks_on(4, 0);
  small.knobs.edit<ZeroOptions>().multi_rank_allreduce = false;
  const Plan plan = plan_of(small, "zero2");
  constexpr std::int64_t kOwn = kLinear / 2;
  CHECK(plan.buckets == std::vector<Bytes>(4, {4 * kOwn}));
}

TEST_CASE("without reduce_scatter a bucket is all-reduced uncut") {
  SmallPlan small = blocks_on(4, 0);
  small.knobs.edit<ZeroOptions>().reduce_scatter = false;
  small.knobs.edit<ZeroOptions>().reduce_bucket_size = 300'000;
  const Plan plan = plan_of(small, "zero2");
  constexpr std::int64_t kWeight = 1024 * 1024;
  CHECK(plan.buckets == std::vector<Bytes>{{4 * 1024}, {4 * kWeight}, {4 * 1024}, {4 * kWeight}});
}

}  // namespace zero_reduction_test
