// Horovod's step against closed forms on an idle star of single-GPU nodes.
#include <algorithm>

#include "sim/collective/communicator.hpp"
#include "sim/strategy/horovod/horovod_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_physics {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// One layer of 64 Mi weights and no bias: one gradient of 256 MiB, above any threshold.
Model one_huge_tensor() {
  return {"one_huge_tensor", "", {8192}, false, {test::linear(8192, false), test::plain("loss")}};
}

/// 200 layers of 256 x 256 weights and a bias: 400 gradients of 256 KiB and 1 KiB.
Model many_small_tensors() {
  Model model{"many_small_tensors", "", {256}, false, {}};
  for (int i = 0; i < 200; ++i) model.layers.push_back(test::linear(256));
  model.layers.push_back(test::plain("loss"));
  return model;
}

SmallPlan on(int gpus, const Model& model, double network) {
  SmallPlan small(model, 4);
  small.spec = test::star_cluster(16, {network});
  small.collective = test::forced(nccl::Algorithm::ring, Protocol::simple);
  small.gpus = gpus;
  return small;
}

/// Latency plus 2 (n - 1) / n of the message through the narrowest place.
double all_reduce_s(const SmallPlan& small, Bytes message, double network) {
  const test::OneJob job(small.spec, small.gpus, small.collective);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, message.count);
  const double blocks = plan.channels * of(job.communicator.costs().channel_rate, plan.protocol).per_second;
  return to_seconds(plan.latency) +
         2.0 * (small.gpus - 1) / small.gpus * static_cast<double>(message.count) / std::min(network, blocks);
}

/// From the end of the kernel that writes the last gradient to the start of the optimizer's first, in the
/// last step.
double gap_s(const test::Ran& ran) {
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  const auto per_step = updates.size() / ran.plan.step_ends.size();
  const TaskId update = updates[updates.size() - per_step];
  const QueueId compute = ran.plan.graph.tasks()[update].queue;
  Time before{};
  for (TaskId id = 0; id < update; ++id) {
    if (ran.plan.graph.tasks()[id].queue == compute) before = std::max(before, ran.timeline.end_of(id));
  }
  return to_seconds(ran.timeline.spans[update].start - before);
}

}  // namespace

TEST_CASE("one huge gradient is exposed for 2(n-1)/n S/B, without copies and at most a cycle later") {
  for (const int gpus : {2, 4, 16}) {
    for (const double network : {1e9, 12.3e9}) {
      const SmallPlan small = on(gpus, one_huge_tensor(), network);
      const test::Ran ran = run_plan(small, "horovod");
      REQUIRE(ran.plan.buckets.size() == 1);
      CHECK(ran.plan.buckets[0].count == 4LL * 8192 * 8192);
      CHECK(tasks_labelled(ran.plan.graph, TaskKind::kernel, "copy into fusion buffer").empty());
      const double expected = all_reduce_s(small, ran.plan.buckets[0], network);
      INFO(gpus << " GPUs, " << network << " B/s");
      CHECK(gap_s(ran) >= expected);
      CHECK(gap_s(ran) <= expected + 1.2e-3);  // a cycle, the calls on both sides of it and the wake-up
    }
  }
}

TEST_CASE("without fusion 400 gradients pay 400 latencies, fused into one message a single one") {
  SmallPlan fused = on(8, many_small_tensors(), 12.3e9), alone = on(8, many_small_tensors(), 12.3e9);
  fused.knobs.edit<HorovodOptions>().cycle_time = alone.knobs.edit<HorovodOptions>().cycle_time =
      milliseconds(100);  // all hooks fall into one cycle
  alone.knobs.edit<HorovodOptions>().fusion_threshold = Bytes{0};
  const test::Ran one = run_plan(fused, "horovod"), many = run_plan(alone, "horovod");
  REQUIRE(one.plan.buckets.size() == 1);
  REQUIRE(many.plan.buckets.size() == 400);
  double separate = 0;
  for (const Bytes message : many.plan.buckets) separate += all_reduce_s(alone, message, 12.3e9);
  // Messages follow each other on one stream: their times add up, and the GPU computes nothing beside them.
  const auto sent = tasks_labelled(many.plan.graph, TaskKind::collective, "all_reduce message");
  double busy = 0;
  for (std::size_t i = sent.size() - 400; i < sent.size(); ++i)
    busy += to_seconds(many.timeline.end_of(sent[i]) - many.timeline.spans[sent[i]].start);
  CHECK(busy == Approx(separate).epsilon(0.02));
  CHECK(many.last_step_s() - one.last_step_s() >
        0.5 * (separate - all_reduce_s(fused, one.plan.buckets[0], 12.3e9)));
}

TEST_CASE("a step whose last gradient waits for its cycle grows by half of what the cycle grows") {
  SmallPlan plain = on(2, one_huge_tensor(), 12.3e9);
  plain.device.kernel.time_scale = 1e-3;  // the gradient is there as soon as its hook has run
  SmallPlan longer = plain;
  longer.knobs.edit<HorovodOptions>().cycle_time = milliseconds(41);
  // Half of 40 ms more; the phase is one of 32.
  CHECK(run_plan(longer, "horovod").last_step_s() - run_plan(plain, "horovod").last_step_s() ==
        Approx(20e-3).margin(41e-3 / 32));
}

TEST_CASE("fusion copies cost four passes over the gradients, beside backward or not") {
  const SmallPlan small = on(2, many_small_tensors(), 12.3e9);
  const test::Ran ran = run_plan(small, "horovod");
  double copied = 0;
  for (const char* label : {"copy into fusion buffer", "copy out of fusion buffer"}) {
    for (const TaskId id : tasks_labelled(ran.plan.graph, TaskKind::kernel, label))
      copied += to_seconds(ran.plan.graph.tasks()[id].duration);
  }
  const double bytes = 4.0 * 200 * (256 * 256 + 256) * 5;  // five steps
  CHECK(copied >= 4 * bytes / 900e9);                      // at no more than the memory's rate
}

}  // namespace horovod_physics
