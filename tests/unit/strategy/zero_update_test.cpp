// DeepSpeed's step(): its questions to all ranks, the partition, offload, and the weights for everybody.
#include <numeric>

#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace zero_update_test {

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

constexpr std::int64_t kAll = 6 * kLinear;

SmallPlan in_half(SmallPlan small, Precision precision = Precision::bf16) {
  small.workload.precision = precision, small.workload.half_weights = true;
  return small;
}

ZeroSettings settings(int stage, int ranks) {
  ZeroSettings chosen;
  chosen.stage = stage, chosen.ranks = ranks;
  return chosen;
}

}  // namespace

TEST_CASE("the partition with most tensors is the one that counts") {
  const ExpandedModel model =
      expand(test::named_blocks(1)).model;  // three layers: weight, bias, weight, bias, weight, bias
  // Cut in three, each piece is a weight and a bias.
  CHECK(partition_tensors(model, settings(1, 3)) == std::vector<std::int64_t>{1024 * 1024, 1024});
  // Cut in two in the middle of the second weight, the second piece has four: the rest of it, a bias, a
  // weight and a bias.
  CHECK(partition_tensors(model, settings(1, 2)) ==
        std::vector<std::int64_t>{2 * kLinear - 3 * kLinear / 2 - 1024, 1024, 1024 * 1024, 1024});
  CHECK(partition_tensors(model, settings(1, 1)).size() == 6);
}

TEST_CASE("in stage 3 the partition has a piece of every parameter") {
  const ExpandedModel model = expand(test::named_blocks(1)).model;
  const auto pieces = partition_tensors(model, settings(3, 4));
  CHECK(pieces == std::vector<std::int64_t>{1024 * 256, 256, 1024 * 256, 256, 1024 * 256, 256});
}

TEST_CASE("pieces of a partition add up to its share") {
  const ExpandedModel model = expand(test::resnet18()).model;
  for (const int ranks : {1, 2, 7}) {
    const auto pieces = partition_tensors(model, settings(2, ranks));
    const std::int64_t sum = std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0});
    CHECK(sum <= settings(2, ranks).own(model.parameter_elements()));
    CHECK(sum >= settings(2, ranks).own(model.parameter_elements()) - ranks);
  }
}

TEST_CASE("stages 1 and 2 gather all weights, stage 3 only those that are never sharded") {
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero0"), "all_gather").count == 0);
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero1"), "all_gather of weights") == Sent{4 * kAll, 1});
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero2"), "all_gather of weights") == Sent{4 * kAll, 1});
  CHECK(sent_per_step(plan_of(blocks_on(4), "zero3"), "all_gather of weights") ==
        Sent{4 * 6 * 1024, 6});  // the biases, one by one
  CHECK(sent_per_step(plan_of(in_half(blocks_on(4)), "zero1"), "all_gather of weights").bytes == 2 * kAll);
}

TEST_CASE("the next forward pass waits for the weights") {
  const test::Ran ran = run_plan(blocks_on(4), "zero1");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_gather of weights");
  const auto stems = tasks_labelled(ran.plan.graph, TaskKind::kernel, "stem");
  const std::size_t per_step = stems.size() / ran.plan.step_ends.size();
  for (std::size_t step = 1; step < ran.plan.step_ends.size(); ++step)
    CHECK(ran.timeline.spans[stems[step * per_step]].start >= ran.timeline.end_of(gathers[step - 1]));
}

TEST_CASE("before PyTorch 1.10 weights are gathered in buckets") {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<ZeroOptions>().allgather_bucket_size = 4 * kLinear;
  CHECK(sent_per_step(plan_of(small, "zero1"), "all_gather of weights").count == 1);
  small.workload.framework.version = {1, 9};
  CHECK(sent_per_step(plan_of(small, "zero1"), "all_gather of weights") ==
        Sent{4 * kAll, 2});  // 4 and 2 layers
  small.knobs.edit<ZeroOptions>().allgather_bucket_size = 1;
  CHECK_THROWS_WITH(
      plan_of(small, "zero1"),
      ContainsSubstring("strategy.allgather_bucket_size = 1 cuts 6297600 elements into more than 10000"));
}

TEST_CASE("16 bits ask all ranks for overflows and wait for the answer, fp32 does not") {
  const Plan fp16 = plan_of(in_half(blocks_on(4), Precision::amp_fp16), "zero1"),
             fp32 = plan_of(blocks_on(4), "zero1");
  CHECK(sent_per_step(fp16, "overflow check") == Sent{1, 1});
  CHECK(sent_per_step(fp32, "overflow check").count == 0);
  const auto waits = [](const Plan& plan) {
    std::size_t count = 0;
    for (const Task& task : plan.graph.tasks()) count += task.kind == TaskKind::wait ? 1 : 0;
    return count / plan.step_ends.size();
  };
  CHECK(waits(fp16) == waits(fp32) + 1);
}

TEST_CASE("the norm of the gradients is always computed: two kernels a tensor and one sum") {
  SmallPlan small = blocks_on(4);
  const Plan plan = plan_of(small, "zero3");
  CHECK(sent_per_step(plan, "gradient norm") == Sent{8, 1});  // fp64
  CHECK(kernels_per_step(plan, "gradient norm") == 2 * 12 + 1);
  CHECK(sent_per_step(plan_of(small, "zero0"), "gradient norm").count == 0);
}

TEST_CASE("the optimizer updates one flat partition") {
  SmallPlan small = blocks_on(4);
  small.workload.optimizer.form = OptimizerForm::for_loop;  // SGD: one kernel per tensor
  // The gradients in one, scaled, updated.
  CHECK(kernels_per_step(plan_of(small, "zero1"), "optimizer") == 3);
  CHECK(kernels_per_step(plan_of(in_half(small), "zero1"), "optimizer") == 4);  // and turned into fp32
  CHECK(kernels_per_step(plan_of(small, "zero0"), "optimizer") == 12);
}

TEST_CASE("an optimizer on the host moves 28 bytes a parameter and 8 to scale its gradient") {
  SmallPlan small = blocks_on(4);  // one GPU a node
  small.workload.optimizer = {OptimizerKind::adam, OptimizerForm::fused, false};
  small.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  const test::Ran ran = run_plan(small, "zero2");
  const Time expected = seconds(
      host_update_time({.elements = kAll / 4.0, .bytes_per_element = 28 + 8}, small.spec.node.host).seconds);
  const auto updates = tasks_labelled(ran.plan.graph, TaskKind::host, "update on the host");
  REQUIRE(updates.size() == ran.plan.step_ends.size());
  CHECK(ran.plan.graph.tasks()[updates[0]].duration == expected);
  const auto back = tasks_labelled(ran.plan.graph, TaskKind::copy, "fp32 to weights");
  REQUIRE(back.size() == ran.plan.step_ends.size());
  CHECK(ran.plan.graph.tasks()[back[0]].traffic.count == 4 * kAll / 4);
}

TEST_CASE("stage 3 casts new weights on the host and sends 16 bits") {
  SmallPlan small = in_half(blocks_on(4));
  small.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  const Plan plan = plan_of(small, "zero3");
  const auto back = tasks_labelled(plan.graph, TaskKind::copy, "fp32 to weights");
  REQUIRE(back.size() == plan.step_ends.size());
  CHECK(plan.graph.tasks()[back[0]].traffic.count == 2 * kAll / 4);
}

TEST_CASE("parameters in host memory are copied for every gather and masters go back to them") {
  SmallPlan small = in_half(blocks_on(4));
  small.knobs.edit<ZeroOptions>().offload_param = OffloadDevice::cpu;
  const test::Ran ran = run_plan(small, "zero3");
  const auto copies = tasks_labelled(ran.plan.graph, TaskKind::copy, "parameters from host memory");
  const auto gathers = tasks_labelled(ran.plan.graph, TaskKind::collective, "all_gather of parameters");
  CHECK(copies.size() == gathers.size());
  std::int64_t copied = 0;
  for (const TaskId task : copies) copied += ran.plan.graph.tasks()[task].traffic.count;
  // Each parameter but the biases once a step, for all of them fit into max_reuse_distance: a quarter of 16
  // bits.
  CHECK(copied == static_cast<std::int64_t>(ran.plan.step_ends.size()) * 6 * 1024 * 1024 * 2 / 4);
  CHECK(run_plan(in_half(blocks_on(4)), "zero3").last_step_s() < ran.last_step_s());
  CHECK(ran.plan.memory.parameters == 0);
  CHECK(ran.plan.memory.host.weights.count == 2 * kAll / 4);
  CHECK(ran.plan.memory.host.masters.count == 0);
}

TEST_CASE("NVMe reads and writes weights, moments and gradients around the update") {
  SmallPlan memory = blocks_on(4), drive = blocks_on(4);
  memory.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  drive.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::nvme;
  drive.spec.node.host.nvme_read = {4e9}, drive.spec.node.host.nvme_write = {2e9};
  drive.workload.optimizer = memory.workload.optimizer = {OptimizerKind::adam, OptimizerForm::fused, false};
  const test::Ran ran = run_plan(drive, "zero1");
  const auto swaps = tasks_labelled(ran.plan.graph, TaskKind::host, "optimizer state on NVMe");
  REQUIRE(swaps.size() == 2 * ran.plan.step_ends.size());
  const double bytes = 16.0 * kAll / 4;  // weight, two moments, gradient
  CHECK(to_seconds(ran.plan.graph.tasks()[swaps[0]].duration) == Approx(bytes / 4e9));
  CHECK(to_seconds(ran.plan.graph.tasks()[swaps[1]].duration) == Approx(bytes / 2e9));
  CHECK(ran.last_step_s() > run_plan(memory, "zero1").last_step_s());
  CHECK(ran.plan.memory.host.on_drive.count == 16 * kAll / 4);
  CHECK(ran.plan.memory.host.total() < run_plan(memory, "zero1").plan.memory.host.total());
}

TEST_CASE("threads of its own make a rank faster and one thread slower") {
  const auto step_with = [](std::optional<int> threads, bool bind) {
    SmallPlan small = blocks_on(4);
    small.spec = test::nvlink_cluster(1, 1);
    small.spec.node.host.cpu = "2x AMD EPYC 7742", small.spec.node.host.cores = 128;
    small.spec.node.host.memory_bandwidth = {10e9};
    small.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
    small.knobs.edit<OffloadOptions>() = {threads, bind, true};
    const Plan plan = plan_of(small, "zero1");
    return to_seconds(
        plan.graph.tasks()[tasks_labelled(plan.graph, TaskKind::host, "update on the host")[0]].duration);
  };
  CHECK(step_with({}, true) < step_with({}, false));
  CHECK(step_with(32, false) == step_with({}, true));  // 128 cores of four ranks
  // Four threads of 20 GB/s move less than a quarter of 0.2 x 409.6 GB/s does in 20.48 GB/s.
  CHECK(step_with(1, false) > step_with(32, false));
}

TEST_CASE("ranks of a node share its memory when the optimizer runs there") {
  SmallPlan one = blocks_on(1), four = blocks_on(4);
  one.spec = four.spec = test::nvlink_cluster(1, 1);
  for (SmallPlan* small : {&one, &four}) {
    small->knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
    small->spec.node.host.cpu = "2x AMD EPYC 7742", small->spec.node.host.cores = 128;
    small->spec.node.host.memory_bandwidth = {10e9};
  }
  const auto longest = [](const Plan& plan) {
    Time most{};
    for (const Task& task : plan.graph.tasks())
      if (task.kind == TaskKind::host) most = std::max(most, task.duration);
    return to_seconds(most);
  };
  // One rank's state lies in the memory of one of two sockets, those of four in both.
  CHECK(2 * longest(plan_of(four, "zero1")) == Approx(longest(plan_of(one, "zero1"))).epsilon(0.01));
}

TEST_CASE("offload makes the step longer and the GPU's memory smaller") {
  SmallPlan small = blocks_on(4), offloaded = blocks_on(4);
  offloaded.knobs.edit<ZeroOptions>().offload_optimizer = OffloadDevice::cpu;
  CHECK(run_plan(offloaded, "zero2").last_step_s() > run_plan(small, "zero2").last_step_s());
  CHECK(plan_of(offloaded, "zero2").memory.optimizer == 0);
  CHECK(plan_of(small, "zero2").memory.optimizer == 1.0 / 4);
}

TEST_CASE("stages 1 and 2 look for infinities in bf16 as well") {
  SmallPlan small = blocks_on(4);
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  for (const char* strategy : {"zero1", "zero2"})
    CHECK(sent_per_step(plan_of(small, strategy), "overflow check") == Sent{1, 1});
  CHECK(sent_per_step(plan_of(small, "zero3"), "overflow check") == Sent{0, 0});
}

}  // namespace zero_update_test
