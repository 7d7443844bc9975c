// ZeRO stage 3's parameters: the trace, what is gathered when, what stays.
#include <algorithm>

#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace zero_fetch_test {

using namespace foretrain;
using test::blocks_on;
using test::decision_about;
using test::kernels_per_step;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::Sent;
using test::sent_per_step;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr std::int64_t kWeight = 1024 * 1024;  // biases of 1024 elements are persistent

SmallPlan with(std::int64_t prefetch, std::int64_t live, std::int64_t reuse) {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<ZeroOptions>().prefetch_bucket_size = prefetch;
  small.knobs.edit<ZeroOptions>().max_live_parameters = live;
  small.knobs.edit<ZeroOptions>().max_reuse_distance = reuse;
  return small;
}

std::int64_t live_in(const Plan& plan) { return std::stoll(decision_about(plan, "live parameters")->choice); }

}  // namespace

TEST_CASE("the trace is forward, then backward, each layer once per visit") {
  const ExpandedModel model = expand(test::named_blocks(1)).model;
  // stem, linear, relu, head, loss; backward is the same reversed.
  CHECK(fetch_trace(model) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 4, 3, 2, 1, 0});
}

TEST_CASE("a small network is gathered once and kept for backward") {
  const Plan plan = plan_of(blocks_on(4), "zero3");
  // The network as a whole gathers ahead before its first layer runs: all in one piece.
  CHECK(sent_per_step(plan, "all_gather of parameters") == Sent{4 * 6 * kWeight, 1});
  CHECK(live_in(plan) == 6 * kWeight);
}

TEST_CASE("frozen parameters are gathered like the others, packed ones as they are stored") {
  SmallPlan small = blocks_on(4);
  ExpandedModel model = *small.workload.model;
  const Sent all = sent_per_step(plan_of(small, "zero3"), "all_gather of parameters");
  model.frozen = {{.name = "stem.table", .elements = 8 * kWeight}};
  small.workload.model = std::make_shared<const ExpandedModel>(model);
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters").bytes ==
        all.bytes + 4 * 8 * kWeight);
  model.frozen.front().packed = WeightFormat::nf4;
  const std::int64_t packed = model.frozen.front().bytes();
  CHECK(packed < 5 * kWeight);
  small.workload.model = std::make_shared<const ExpandedModel>(model);
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters").bytes == all.bytes + packed);
}

TEST_CASE("parameters up to the threshold are never gathered in a pass") {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<ZeroOptions>().param_persistence_threshold = 1023;
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters").bytes == 4 * 6 * kLinear);
  small.knobs.edit<ZeroOptions>().param_persistence_threshold = kWeight;
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters").count == 0);
}

TEST_CASE("beyond the reuse distance every layer is gathered again in backward") {
  // With room for one live parameter nothing is gathered ahead while a layer is whole.
  CHECK(sent_per_step(plan_of(with(kWeight, 1, 0), "zero3"), "all_gather of parameters").bytes ==
        4 * 2 * 6 * kWeight);
}

TEST_CASE("what a prefetch counts on is kept even beyond the reuse distance") {
  // One weight ahead at every module, and every other module has none: the prefetch gets as far as backward
  // while the last layers of forward are still whole.
  const Sent sent =
      sent_per_step(plan_of(with(kWeight, 1'000'000'000, 0), "zero3"), "all_gather of parameters");
  CHECK(sent.bytes > 4 * 6 * kWeight);
  CHECK(sent.bytes < 4 * 2 * 6 * kWeight);
}

TEST_CASE("the reuse distance counts parameters forward and back: the later half of the model stays") {
  // From the end of layer i (0 the stem, 5 the head) to its backward lie 2 (5 - i) layers in the trace: 0, 2,
  // 4, … x 1 M elements.
  const std::int64_t four_layers = 4 * kWeight + 1;
  const Plan plan = plan_of(with(1, 1'000'000'000, four_layers), "zero3");
  // Layers 3, 4 and 5 are found within four layers; the other three are gathered twice.
  CHECK(sent_per_step(plan, "all_gather of parameters").bytes == 4 * (6 + 3) * kWeight);
}

TEST_CASE("gathering ahead stops at the number of live parameters") {
  const Plan unlimited = plan_of(with(50'000'000, 1'000'000'000, 0), "zero3");
  const Plan limited = plan_of(with(50'000'000, 2 * kWeight, 0), "zero3");
  CHECK(live_in(unlimited) == 6 * kWeight);
  CHECK(live_in(limited) <= 3 * kWeight);
  CHECK(sent_per_step(limited, "all_gather of parameters").count >
        sent_per_step(unlimited, "all_gather of parameters").count);
}

TEST_CASE("gathering ahead asks for later layers before the first one runs") {
  const auto before_stem = [](const Plan& plan) {
    const TaskId stem = tasks_labelled(plan.graph, TaskKind::kernel, "stem").front();
    const auto gathers = tasks_labelled(plan.graph, TaskKind::collective, "all_gather of parameters");
    return std::count_if(gathers.begin(), gathers.end(), [stem](TaskId id) { return id < stem; });
  };
  CHECK(before_stem(plan_of(with(2 * kWeight, 1'000'000'000, 0), "zero3")) == 2);
  CHECK(before_stem(plan_of(with(1, 1, 0), "zero3")) == 1);
}

TEST_CASE("a parameter is gathered for the layer that uses it, not for the one that declares it") {
  // BERT's table of positions is declared by a layer of its own, which has no operators, and added by
  // another.
  SmallPlan small;
  small.workload.model = std::make_shared<const ExpandedModel>(test::model_file("bert_large_s128"));
  small.workload.batch_per_gpu = 1, small.gpus = 4, small.steps = 1;
  small.knobs.edit<ZeroOptions>().param_persistence_threshold = 0;
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters").bytes == 4 * 336'226'108LL);
}

TEST_CASE(
    "a gather of several parameters is packed and copied apart, one of a single parameter only packed") {
  const Plan each = plan_of(with(1, 1, 0), "zero3");
  const Sent sent = sent_per_step(each, "all_gather of parameters");
  CHECK(kernels_per_step(each, "copy of gathered parameters") == sent.count);  // one weight each
  SmallPlan both = with(1, 1, 0);
  both.knobs.edit<ZeroOptions>().param_persistence_threshold = 0;
  const Plan pairs = plan_of(both, "zero3");
  CHECK(kernels_per_step(pairs, "copy of gathered parameters") ==
        2 * sent_per_step(pairs, "all_gather of parameters").count);
}

TEST_CASE("layers wait for their parameters") {
  SmallPlan small = with(1, 1, 0);
  small.spec = test::star_cluster(4, {0.5e9});
  const test::Ran ran = run_plan(small, "zero3");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_gather of parameters");
  const auto stems = tasks_labelled(ran.plan.graph, TaskKind::kernel, "stem");
  const std::size_t steps = ran.plan.step_ends.size();
  CHECK(ran.timeline.spans[stems[3 * stems.size() / steps]].start >=
        ran.timeline.end_of(gathers[3 * gathers.size() / steps]));
}

TEST_CASE("each step gathers what the optimizer has just updated") {
  const test::Ran ran = run_plan(blocks_on(4), "zero3");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_gather of parameters");
  for (std::size_t step = 1; step < ran.plan.step_ends.size(); ++step) {
    CHECK(ran.timeline.spans[gathers[step]].start >= ran.timeline.end_of(ran.plan.step_ends[step - 1]));
  }
}

TEST_CASE("Python before and behind every module costs the host, with or without parameters") {
  SmallPlan small = blocks_on(1);
  small.knobs.edit<ZeroOptions>().param_persistence_threshold = 10 * kWeight;  // nothing to gather
  small.spec.node.host.slowdown = 10;                                          // host-bound
  const Plan three = plan_of(small, "zero3");
  const auto trace = static_cast<std::int64_t>(fetch_trace(*small.workload.model).size());
  CHECK(trace == 2 * (1 + 4 * 2 + 2));
  CHECK(run_plan(small, "zero3").last_step_s() - run_plan(small, "zero2").last_step_s() >
        0.9 * to_seconds((CallCosts{}.zero_fetch + CallCosts{}.zero_release) * trace) * 10);
  CHECK(three.buckets.empty());
}

TEST_CASE("every micro-step follows the trace anew") {
  SmallPlan small = blocks_on(4);
  small.knobs.accumulation = 2;
  // Nothing comes back after backward, so all is released and gathered again.
  CHECK(sent_per_step(plan_of(small, "zero3"), "all_gather of parameters") == Sent{2 * 4 * 6 * kWeight, 2});
}

}  // namespace zero_fetch_test
