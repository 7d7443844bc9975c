// nn.DataParallel step by step: what goes where, what waits for what, and what each GPU more costs.
#include "sim/strategy/replicas/data_parallel.hpp"

#include <algorithm>

#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "sim/strategy/replicas/data_parallel_steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace data_parallel_test {

using namespace foretrain;
using test::plan_of;
using test::Ran;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// On a node of four V100 on PCIe, host of slowdown 1, batches on the GPU; PyTorch 2.0, whose plans are not
/// made anew in every thread.
SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.spec = test::pcie_cluster(1, 4);
  small.gpus = gpus;
  small.workload.data.loader = LoaderKind::none;
  small.workload.framework.version = {2, 0};
  small.steps = 3;
  return small;
}

std::size_t count(const Plan& plan, TaskKind kind, std::string_view label) {
  return tasks_labelled(plan.graph, kind, label).size();
}

/// Microseconds of host tasks with a label in one step; every step has as many.
double host_us(const Plan& plan, std::string_view label, std::size_t steps = 3) {
  double sum = 0;
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::host, label))
    sum += to_seconds(plan.graph.tasks()[id].duration) * 1e6;
  return sum / static_cast<double>(steps);
}

Time start_of(const Ran& ran, TaskId id) { return ran.timeline.spans[id].start; }

const Decision* decision_on(const Plan& plan, std::string_view subject) {
  const auto& list = plan.decisions.list();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Decision& d) { return d.subject == subject; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("dp is another name of data_parallel, one process in one node") {
  REQUIRE(find_strategy("dp") != nullptr);
  const StrategyEntry& dp = *find_strategy("dp");
  CHECK(dp.name == "data_parallel");
  CHECK(dp.processes == Processes::one);
  CHECK_THAT(why_not(dp, place_packed(8, 4)), ContainsSubstring("cannot drive GPUs of 2 nodes"));
  CHECK(why_not(dp, place_packed(4, 4)).empty());
}

TEST_CASE("on one GPU it copies nothing and costs the device check and the scatter") {
  SmallPlan small = on(1);
  small.spec.node.host.slowdown = 50;  // the host bounds the step
  const Plan plan = plan_of(small, "data_parallel");
  for (const Task& task : plan.graph.tasks()) CHECK(task.kind != TaskKind::collective);
  CHECK(plan.buckets.empty());
  CHECK(plan.memory == StrategyMemory{});
  REQUIRE(decision_on(plan, "one GPU") != nullptr);
  // 8 tensors at 0.78 us, 36 us for the one share, times 50.
  const double extra =
      run_plan(small, "data_parallel").last_step_s() - run_plan(small, "single").last_step_s();
  CHECK(extra == Approx((8 * 0.78 + 36) * 1e-6 * 50).epsilon(1e-6));
}

TEST_CASE(
    "parameters are broadcast in groups of at least 10 MiB, buffers by type, before every forward pass") {
  const Plan plan = plan_of(on(4, test::resnet50()), "data_parallel");
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "broadcast of parameters");
  const WrappedModule network = wrap_network(expand(test::resnet50()).model);
  const std::vector<CoalescedGroup> groups = broadcast_groups(network.elements, 4);
  REQUIRE(groups.size() == 9);
  REQUIRE(sent.size() == 3 * groups.size());
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(plan.graph.tasks()[sent[i]].traffic == groups[i % 9].size);
  const auto buffers = tasks_labelled(plan.graph, TaskKind::collective, "broadcast of buffers");
  REQUIRE(buffers.size() == 3 * 2);
  CHECK(plan.graph.tasks()[buffers[0]].traffic.count ==
        212'480);  // 53 norms over 26,560 channels: 2 x 4 bytes
  CHECK(plan.graph.tasks()[buffers[1]].traffic.count == 53 * 8);
}

TEST_CASE("gradients are summed in groups of at most 10 MiB, which the plan lists") {
  const Plan plan = plan_of(on(2, test::resnet18()), "data_parallel");
  const auto sent = tasks_labelled(plan.graph, TaskKind::collective, "reduce of gradients");
  REQUIRE(sent.size() == 3 * plan.buckets.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    CHECK(plan.graph.tasks()[sent[i]].traffic == plan.buckets[i]);
    CHECK(plan.buckets[i] <= kCoalescedBytes);
    sum += plan.buckets[i].count;
  }
  CHECK(sum == 4 * 11'689'512);
}

TEST_CASE("the sum starts after the last backward kernel of every GPU: nothing overlaps") {
  const Ran ran = run_plan(on(4, test::resnet18()), "data_parallel");
  const TaskGraph& graph = ran.plan.graph;
  const auto sums = tasks_labelled(graph, TaskKind::collective, "reduce of gradients");
  const auto optimizers = tasks_labelled(graph, TaskKind::kernel, "optimizer");
  Time last_layer{};
  for (TaskId id = 0; id < sums.front(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind == TaskKind::kernel && task.account == static_cast<std::uint8_t>(Account::compute))
      last_layer = std::max(last_layer, ran.timeline.end_of(id));
  }
  CHECK(start_of(ran, sums.front()) >= last_layer);
  CHECK(start_of(ran, optimizers.front()) >= ran.timeline.end_of(sums[ran.plan.buckets.size() - 1]));
}

TEST_CASE("every GPU runs the network, GPU 0 alone the loss and the optimizer") {
  const Plan one = plan_of(on(1), "data_parallel"), four = plan_of(on(4), "data_parallel");
  const std::vector<std::string> names = expand(test::mnist_net()).model.layer_names;
  const std::string &first = names.front(), &loss = names.back();
  std::size_t convolutions_one = 0, convolutions_four = 0, losses_one = 0, losses_four = 0;
  const auto tally = [&](const Plan& plan, std::size_t& convolutions, std::size_t& losses) {
    for (const Task& task : plan.graph.tasks()) {
      if (task.kind != TaskKind::kernel || task.label == kNone) continue;
      convolutions += plan.graph.label_text(task.label) == first;
      losses += plan.graph.label_text(task.label) == loss;
    }
  };
  tally(one, convolutions_one, losses_one);
  tally(four, convolutions_four, losses_four);
  CHECK(convolutions_four == 4 * convolutions_one);
  CHECK(losses_four == losses_one);
  CHECK(count(four, TaskKind::kernel, "optimizer") == count(one, TaskKind::kernel, "optimizer"));
}

TEST_CASE("the loss sees the batch of all GPUs") {
  // A network that is nearly only its loss: 2 inputs, 1,000,000 classes.
  const Model wide{"wide", "", {2}, false, {test::linear(1'000'000), test::plain("loss")}};
  const std::string loss = expand(wide).model.layer_names.back();
  const auto loss_us = [&](int gpus) {
    double longest = 0;
    const Plan plan = plan_of(on(gpus, wide), "data_parallel");
    for (const TaskId id : tasks_labelled(plan.graph, TaskKind::kernel, loss))
      longest = std::max(longest, to_seconds(plan.graph.tasks()[id].duration) * 1e6);
    return longest;
  };
  CHECK(loss_us(4) == Approx(4 * loss_us(1)).epsilon(0.02));
}

TEST_CASE("modules are copied in Python: 5 us a module, 1.9 us a parameter, 3 us a buffer, for every GPU") {
  SmallPlan small = on(2, test::resnet18());
  const std::int64_t modules = expand(test::resnet18()).model.modules;
  const double each = 5.0 * static_cast<double>(modules) + 1.9 * 62 + 3.0 * 60;
  CHECK(host_us(plan_of(small, "data_parallel"), "replicate modules") == Approx(2 * each).epsilon(1e-9));
  small.gpus = 4, small.spec.node.host.slowdown = 2;
  CHECK(host_us(plan_of(small, "data_parallel"), "replicate modules") == Approx(2 * 4 * each).epsilon(1e-9));
}

TEST_CASE(
    "every forward pass checks 62 parameters and 60 buffers, 0.78 us each, and looks for a view of each") {
  const CallCosts calls = calls_of(on(2).spec);
  const auto us = [](Time time) { return to_seconds(time) * 1e6; };
  for (const int gpus : {2, 3}) {
    const Plan plan = plan_of(on(gpus, test::resnet18()), "data_parallel");
    CHECK(host_us(plan, "device check") == Approx((62 + 60) * us(calls.replica_check)));
    // Of what is broadcast for each GPU but the first; of summed gradients two.
    CHECK(host_us(plan, "unflatten") == Approx(us(calls.view) * ((62 + 60) * (gpus - 1) + 2 * 62)));
    // A group of NCCL calls has one more for each GPU but the first.
    const double groups = static_cast<double>(
        tasks_labelled(plan.graph, TaskKind::collective, "broadcast of buffers").size() / 3);
    CHECK(host_us(plan, "broadcast of buffers") >= Approx(groups * (gpus - 1) * us(calls.grouped_launch)));
  }
  const double two = host_us(plan_of(on(2, test::resnet18()), "data_parallel"), "broadcast of buffers"),
               three = host_us(plan_of(on(3, test::resnet18()), "data_parallel"), "broadcast of buffers");
  CHECK(three - two == Approx(2 * us(calls.grouped_launch)));  // two types of buffer
}

TEST_CASE("forward calls of all GPUs hold one GIL, backward calls none") {
  const Ran ran = run_plan(on(4), "data_parallel");
  const TaskGraph& graph = ran.plan.graph;
  REQUIRE(graph.pools().size() == 1);
  CHECK(graph.pools()[0].capacity == 1);
  std::vector<Span> holding;
  std::size_t free = 0;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind != TaskKind::host) continue;
    if (task.pool != kNone)
      holding.push_back(ran.timeline.spans[id]);
    else if (graph.queues()[task.queue].name.starts_with("autograd"))
      ++free;
  }
  std::sort(holding.begin(), holding.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < holding.size(); ++i) CHECK(holding[i].start >= holding[i - 1].end);
  CHECK(free > 0);
}

TEST_CASE("each call waits 0.6 us longer for every other thread that wants the GIL") {
  const Plan two = plan_of(on(2), "data_parallel"), four = plan_of(on(4), "data_parallel");
  const double calls = static_cast<double>(count(two, TaskKind::host, "forward threads under one GIL")) /
                       (2 * 3);  // of a thread and step
  CHECK(calls == static_cast<double>(wrap_network(expand(test::mnist_net()).model).forward.size()));
  const double bare = host_us(two, "forward threads under one GIL") / 2 - 0.6 * calls;
  CHECK(host_us(four, "forward threads under one GIL") == Approx(4 * (bare + 3 * 0.6 * calls)).epsilon(1e-9));
}

TEST_CASE("since PyTorch 2.1 new threads plan every convolution anew, side by side") {
  SmallPlan small = on(2);
  small.workload.framework.version = {2, 1};
  const Plan plan = plan_of(small, "data_parallel");
  CHECK(host_us(plan, "convolution plans") == Approx(2 * 2 * 250.0));  // two convolutions, two threads
  for (const TaskId id : tasks_labelled(plan.graph, TaskKind::host, "convolution plans"))
    CHECK(plan.graph.tasks()[id].pool == kNone);
  CHECK(host_us(plan_of(on(2), "data_parallel"), "convolution plans") == 0);
  SmallPlan before = on(2);
  for (SmallPlan* host_bound : {&small, &before}) host_bound->spec.node.host.slowdown = 20;
  // Two plans of 250 us, times 20; part of them runs while the other thread has the GIL.
  const double more =
      run_plan(small, "data_parallel").last_step_s() - run_plan(before, "data_parallel").last_step_s();
  CHECK(more <= 2 * 250e-6 * 20);
  CHECK(more > 0.8 * 2 * 250e-6 * 20);
}

TEST_CASE("inputs go from GPU 0 to the others, outputs come back, their gradients go out again") {
  SmallPlan small = on(4);
  const Plan plan = plan_of(small, "data_parallel");
  const auto inputs = tasks_labelled(plan.graph, TaskKind::copy, "scatter of inputs");
  const auto outputs = tasks_labelled(plan.graph, TaskKind::copy, "gather of outputs");
  const auto gradients = tasks_labelled(plan.graph, TaskKind::copy, "scatter of output gradients");
  REQUIRE(inputs.size() == 3 * 3);
  REQUIRE(outputs.size() == 3 * 3);
  REQUIRE(gradients.size() == 3 * 3);
  CHECK(plan.graph.tasks()[inputs[0]].traffic.count ==
        64 * (4 * 28 * 28 + 8));  // a share of 64 samples with their labels
  CHECK(plan.graph.tasks()[outputs[0]].traffic.count == 64 * 10 * 4);
  CHECK(plan.graph.tasks()[gradients[0]].traffic.count == 64 * 10 * 4);
}

TEST_CASE("one loader makes the batch of all GPUs: as many bytes reach GPU 0") {
  SmallPlan small = on(4);
  small.workload.data.loader = LoaderKind::torch;
  small.workload.data.samples = 60'000;
  const Plan plan = plan_of(small, "data_parallel");
  std::int64_t copied = 0;
  for (const Task& task : plan.graph.tasks()) {
    if (task.kind == TaskKind::copy && task.account == static_cast<std::uint8_t>(Account::input_stall))
      copied += task.traffic.count;
  }
  CHECK(copied == 3 * 4 * 64 * (4 * 28 * 28 + 8));
}

TEST_CASE("every micro-step broadcasts and sums: there is no no_sync") {
  SmallPlan once = on(2, test::resnet18()), four = on(2, test::resnet18());
  four.knobs.accumulation = 4;
  const Plan a = plan_of(once, "data_parallel"), b = plan_of(four, "data_parallel");
  CHECK(b.buckets.size() == 4 * a.buckets.size());
  for (const std::string_view label :
       {"broadcast of parameters", "broadcast of buffers", "reduce of gradients"})
    CHECK(count(b, TaskKind::collective, label) == 4 * count(a, TaskKind::collective, label));
  CHECK(count(b, TaskKind::kernel, "optimizer") == count(a, TaskKind::kernel, "optimizer"));
}

TEST_CASE("weights of 16 bit halve every message") {
  SmallPlan half = on(2, test::resnet18());
  half.workload.precision = Precision::amp_fp16, half.workload.half_weights = true;
  std::int64_t sum = 0;
  for (const Bytes bytes : plan_of(half, "data_parallel").buckets) sum += bytes.count;
  CHECK(sum == 2 * 11'689'512);
}

TEST_CASE("GPU 0 also holds the flat tensors, the other GPUs' inputs and all outputs") {
  const Plan plan = plan_of(on(4), "data_parallel");
  CHECK(plan.memory.buffers.count ==
        2 * 4 * 1'199'882);  // one group with the whole network, flat, and its sum
  // Per sample of a share: outputs, log-probabilities and gradient of four shares; inputs of three with their
  // labels.
  CHECK(plan.memory.per_sample.count == 4 * 3 * 4 * 10 + 3 * (4 * 28 * 28 + 8));
  CHECK(plan.memory.parameters == 1);
}

TEST_CASE(
    "what does not shrink with the share of the batch makes four GPUs slower than one for a small network") {
  SmallPlan one = on(1), four = on(4);
  four.workload.batch_per_gpu = one.workload.batch_per_gpu / 4;
  CHECK(run_plan(four, "data_parallel").last_step_s() > run_plan(one, "data_parallel").last_step_s());
}

TEST_CASE("the planner says what is broadcast, what is summed and who waits for the GIL") {
  const Plan plan = plan_of(on(4, test::resnet18()), "data_parallel");
  for (const std::string_view subject : {"broadcast of parameters", "reduce of gradients", "forward"})
    CHECK(decision_on(plan, subject) != nullptr);
  CHECK(decision_on(plan, "forward")->choice == "4 threads under one GIL");
}

}  // namespace data_parallel_test
