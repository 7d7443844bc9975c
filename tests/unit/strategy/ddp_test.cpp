// DistributedDataParallel step by step: what is sent, when, and what each option removes.
#include "sim/strategy/ddp/ddp.hpp"

#include <algorithm>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/strategy/process/process.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace ddp_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.gpus = gpus;
  return small;
}

std::size_t all_reduces(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket").size();
}
std::size_t broadcasts(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "buffer broadcast").size();
}
std::size_t copies_in(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::kernel, "gradient to bucket").size();
}
std::size_t copies_out(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::kernel, "bucket to gradient").size();
}

bool same_tasks(const TaskGraph& a, const TaskGraph& b) {
  return std::equal(a.tasks().begin(), a.tasks().end(), b.tasks().begin(), b.tasks().end(),
                    [](const Task& x, const Task& y) {
                      return x.kind == y.kind && x.account == y.account && x.queue == y.queue &&
                             x.duration == y.duration && x.traffic == y.traffic;
                    });
}

}  // namespace

TEST_CASE("on one GPU the model is not wrapped: the plan is that of single") {
  const Plan ddp = plan_of(on(1), "ddp"), single = plan_of(on(1), "single");
  CHECK(same_tasks(ddp.graph, single.graph));
  CHECK(ddp.buckets.empty());
  REQUIRE_FALSE(ddp.decisions.list().empty());
  CHECK(ddp.decisions.list().back().choice == "model not wrapped");
}

TEST_CASE("models that are never wrapped exchange nothing, and nobody waits for the slowest") {
  SmallPlan small = on(4);
  small.knobs.edit<DdpOptions>().wrapped = false;
  small.device.rank_spread = 0.5;
  const Plan apart = plan_of(small, "ddp");
  CHECK(std::ranges::none_of(apart.graph.tasks(),
                             [](const Task& task) { return task.kind == TaskKind::collective; }));
  CHECK(apart.buckets.empty());
  CHECK(apart.decisions.list().back().choice == "not exchanged");
  small.device.rank_spread = 0;
  CHECK(same_tasks(apart.graph, plan_of(small, "ddp").graph));
}

TEST_CASE("wrap_one_gpu copies every gradient into a bucket and back, and moves no byte") {
  SmallPlan small = on(1);
  small.knobs.edit<DdpOptions>().wrap_one_gpu = true;
  const Plan plan = plan_of(small, "ddp");
  CHECK(copies_in(plan) == 8u * 5);  // 8 tensors, 5 steps
  CHECK(copies_out(plan) == 8u * 5);
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, ""))
    CHECK(plan.graph.tasks()[id].traffic.count == 0);
  CHECK(run_plan(small, "ddp").last_step_s() > run_plan(on(1), "ddp").last_step_s());
}

TEST_CASE("each step all-reduces every bucket once, with its bytes") {
  const Plan plan = plan_of(on(4, test::resnet18()), "ddp");
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket");
  REQUIRE(sent.size() == 5 * plan.buckets.size());
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(plan.graph.tasks()[sent[i]].traffic == plan.buckets[i % plan.buckets.size()]);
}

TEST_CASE("buckets are launched in order even when a later one is complete first") {
  // find_unused_parameters fills by registration; ResNet's shortcut gradients arrive out of that order.
  SmallPlan small = on(4, test::resnet50());
  small.knobs.edit<DdpOptions>().find_unused_parameters = true;
  small.knobs.edit<DdpOptions>().bucket_cap = {1 << 20};
  small.steps = 2;
  const Plan plan = plan_of(small, "ddp");
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket");
  REQUIRE(sent.size() == 2 * plan.buckets.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(plan.graph.label_text(plan.graph.tasks()[sent[i]].label) ==
          "all_reduce bucket " + std::to_string(i % plan.buckets.size()));
  }
}

TEST_CASE("a bucket goes out as soon as its last gradient is there, before backward ends") {
  const test::Ran ran = run_plan(on(4, test::resnet50()), "ddp");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce bucket 0");
  const auto copies = tasks_labelled(ran.plan.graph, TaskKind::kernel, "gradient to bucket");
  CHECK(ran.timeline.spans[sent.front()].start <
        ran.timeline.spans[copies[copies.size() / 5 - 1]].start);  // the first step's last gradient
}

TEST_CASE("the optimizer waits for the last bucket") {
  const test::Ran ran = run_plan(on(4, test::resnet18()), "ddp");
  const auto sent = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce bucket");
  const auto steps = tasks_labelled(ran.plan.graph, TaskKind::kernel, "optimizer");
  REQUIRE(steps.size() % 5 == 0);
  CHECK(ran.timeline.spans[steps.front()].start >= ran.timeline.end_of(sent[ran.plan.buckets.size() - 1]));
}

TEST_CASE("accumulation exchanges gradients once per optimizer step") {
  SmallPlan plain = on(4, test::resnet18()), accumulated = on(4, test::resnet18());
  accumulated.knobs.accumulation = 4;
  const Plan once = plan_of(plain, "ddp"), many = plan_of(accumulated, "ddp");
  CHECK(all_reduces(many) == all_reduces(once));
  CHECK(broadcasts(many) == broadcasts(once));
  CHECK(copies_in(many) == copies_in(once));
}

TEST_CASE("without no_sync every micro-step exchanges its gradients") {
  SmallPlan with = on(4, test::resnet18());
  with.knobs.accumulation = 4;
  SmallPlan without = with;
  without.knobs.no_sync = false;
  const auto exchanges = [](const SmallPlan& small) {
    return test::tasks_labelled(plan_of(small, "ddp").graph, TaskKind::collective, "all_reduce").size();
  };
  CHECK(exchanges(without) == 4 * exchanges(with));
  CHECK(run_plan(without, "ddp").last_step_s() > run_plan(with, "ddp").last_step_s());
}

TEST_CASE("accumulation makes a sample cheaper when the network is slow") {
  SmallPlan plain = on(4, test::resnet18());
  plain.spec = test::star_cluster(4, {0.1e9});
  SmallPlan accumulated = plain;
  accumulated.knobs.accumulation = 4;
  CHECK(run_plan(accumulated, "ddp").last_step_s() < 4 * run_plan(plain, "ddp").last_step_s());
}

TEST_CASE("buffers are broadcast before each forward: floats and counters apart") {
  CHECK(broadcasts(plan_of(on(4, test::resnet18()), "ddp")) == 2u * 5);
  CHECK(broadcasts(plan_of(on(4, test::mnist_net()), "ddp")) == 0);  // no batch norm, no buffers
}

TEST_CASE("the broadcast carries the batch norms' means and variances, then their counters") {
  const Plan plan = plan_of(on(4, test::resnet18()), "ddp");
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "buffer broadcast");
  // 20 norms over 4,800 channels: 2 x 4 x 4,800 bytes; 20 counters of 8 bytes.
  CHECK(plan.graph.tasks()[sent[0]].traffic.count == 38'400);
  CHECK(plan.graph.tasks()[sent[1]].traffic.count == 160);
}

TEST_CASE("without broadcast_buffers nothing is broadcast and the step is shorter") {
  SmallPlan with = on(4, test::resnet18()), without = on(4, test::resnet18());
  without.knobs.edit<DdpOptions>().broadcast_buffers = false;
  const test::Ran a = run_plan(with, "ddp"), b = run_plan(without, "ddp");
  CHECK(broadcasts(b.plan) == 0);
  CHECK(tasks_labelled(b.plan.graph, TaskKind::kernel, "buffer broadcast").empty());
  CHECK(b.last_step_s() < a.last_step_s());
}

TEST_CASE("gradient_as_bucket_view saves the copies back and the memory of the buckets") {
  SmallPlan view = on(4, test::resnet18());
  view.knobs.edit<DdpOptions>().gradient_as_bucket_view = true;
  const Plan plain = plan_of(on(4, test::resnet18()), "ddp"), viewed = plan_of(view, "ddp");
  CHECK(copies_out(plain) == 62u * 5);
  CHECK(copies_out(viewed) == 0);
  CHECK(plain.memory.buffers.count == 4 * 11'689'512);
  CHECK(viewed.memory.buffers.count == 0);
}

TEST_CASE("searching unused parameters and the static graph cost host time per gradient") {
  SmallPlan plain = on(2), unused = on(2), fixed = on(2), view = on(2);
  for (SmallPlan* small : {&plain, &unused, &fixed, &view})
    small->spec.node.host.slowdown = 10;  // host-bound
  unused.knobs.edit<DdpOptions>().find_unused_parameters = true;
  fixed.knobs.edit<DdpOptions>().static_graph = true;
  view.knobs.edit<DdpOptions>().gradient_as_bucket_view = true;
  const double base = run_plan(plain, "ddp").last_step_s();
  CHECK(run_plan(fixed, "ddp").last_step_s() - base == Approx(8 * 0.3e-6 * 10).epsilon(0.05));
  // A view has a hook of 0.9 x 2.6 us, and none of 8 copies back (launch 2.5 us and 0.57 us).
  CHECK(base - run_plan(view, "ddp").last_step_s() == Approx(8 * (0.26e-6 + 3.07e-6) * 10).epsilon(0.1));
  // 8 gradients x 1.1 us, 0.3 us for each node of the graph searched, and the map of used parameters: one
  // copy and one collective.
  const double nodes = 0.3e-6 * static_cast<double>(plain.workload.model->backward.size() + 8);
  CHECK(run_plan(unused, "ddp").last_step_s() - base > (8 * 1.1e-6 + nodes) * 10);
}

TEST_CASE("the search for unused parameters reduces a map of them behind the last bucket") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.edit<DdpOptions>().find_unused_parameters = true;
  const Plan plan = plan_of(small, "ddp");
  const auto maps = tasks_labelled(plan.graph, TaskKind::collective, "map of used parameters");
  REQUIRE(maps.size() == 5);
  CHECK(plan.graph.tasks()[maps[0]].traffic.count == 4 * 62);
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "map of used parameters").size() == 5);  // to the GPU
  CHECK(maps[0] >
        tasks_labelled(plan.graph, TaskKind::collective, "all_reduce bucket")[plan.buckets.size() - 1]);
  small.knobs.edit<DdpOptions>().static_graph = true;  // which knows
  CHECK(tasks_labelled(plan_of(small, "ddp").graph, TaskKind::collective, "map of used parameters").empty());
}

TEST_CASE("Lightning of version 1 searches for unused parameters unless told otherwise") {
  StrategyOptions options;
  for (const Knob& knob : find_strategy("ddp")->knobs) {
    if (knob.name == "lightning") std::get<KnobChoice>(knob.value).take(options, 0);
  }
  CHECK(options.get<DdpOptions>().find_unused_parameters);
  const auto& own = find_strategy("ddp")->knobs;
  const auto at = [&](std::string_view name) {
    return std::find_if(own.begin(), own.end(), [&](const Knob& k) { return k.name == name; });
  };
  CHECK(at("lightning") <
        at("find_unused_parameters"));  // read first, so that the option itself has the last word
}

TEST_CASE("DDP is also known by its class") {
  CHECK(find_strategy("distributed_data_parallel") == find_strategy("ddp"));
}

TEST_CASE("each micro-step pays DDP's forward, only the first sends buffers") {
  SmallPlan small = on(4, test::resnet18());
  small.knobs.accumulation = 4;
  const Plan many = plan_of(small, "ddp"), once = plan_of(on(4, test::resnet18()), "ddp");
  const auto forwards = [](const Plan& plan) {
    return std::count_if(plan.graph.tasks().begin(), plan.graph.tasks().end(), [](const Task& task) {
      return task.kind == TaskKind::host && task.duration == HostCalibration{}.ddp_forward;
    });
  };
  CHECK(forwards(many) == 4 * forwards(once));
  CHECK(broadcasts(many) == broadcasts(once));
}

TEST_CASE("the slowest of many ranks sets the pace") {
  SmallPlan even = on(4), uneven = on(4);
  even.device.kernel.time_scale = uneven.device.kernel.time_scale = 100;
  uneven.device.rank_spread = 0.1;
  CHECK(run_plan(uneven, "ddp").last_step_s() > 1.05 * run_plan(even, "ddp").last_step_s());
}

TEST_CASE("the planner says which buckets it made and why") {
  const Plan plan = plan_of(on(4, test::resnet18()), "ddp");
  const auto& list = plan.decisions.list();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [](const Decision& d) { return d.subject == "gradient buckets"; });
  REQUIRE(found != list.end());
  CHECK_THAT(found->why, ContainsSubstring("order of gradient arrival"));
}

TEST_CASE("a plan of one step is a prefix of a plan of two") {
  SmallPlan one = on(4), two = on(4);
  one.steps = 1, two.steps = 2;
  const Plan a = plan_of(one, "ddp"), b = plan_of(two, "ddp");
  REQUIRE(a.graph.tasks().size() < b.graph.tasks().size());
  CHECK(a.step_ends[0] == b.step_ends[0]);
}

}  // namespace ddp_test
