// FSDP as a strategy: one GPU, versions, shards of the optimizer, memory, what it says.
#include "sim/strategy/fsdp/fsdp.hpp"

#include <set>

#include "sim/strategy/catalog.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace fsdp_test {

using namespace foretrain;
using test::blocks_on;
using test::decision_about;
using test::kLinear;
using test::model_file;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// GPT-2 XL in 16 bits on eight GPUs.
SmallPlan gpt2_xl() {
  SmallPlan small;
  small.workload.model = std::make_shared<const ExpandedModel>(model_file("gpt2_xl"));
  small.workload.batch_per_gpu = 1;
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  small.workload.optimizer = {OptimizerKind::adamw, OptimizerForm::fused, false};
  small.spec = test::nvswitch_node();
  small.gpus = 8, small.steps = 1;
  return small;
}

constexpr std::int64_t kRoot = 50'257 * 1600 + 1024 * 1600 + 2 * 1600;  // words, positions, last norm
constexpr std::int64_t kAll = 1'557'611'200;
constexpr std::int64_t kBlock = (kAll - kRoot) / 48;

/// In 16 bits: the root, three blocks, the root's gradient behind the blocks (a norm), a block's gradient.
constexpr std::int64_t kWhole = 2 * (kRoot + 3 * kBlock + 2 * 1600 + kBlock);

/// Gradients are filled with zeros, so that their shards are always there.
SmallPlan filled(SmallPlan small) {
  small.workload.loop.zero_grad = TrainingLoop::ZeroGrad::zero;
  return small;
}

MemoryUse memory_of(const SmallPlan& small, const Plan& plan) {
  return memory_use(small.workload, {plan.memory, small.gpus, Architecture::ampere});
}

}  // namespace

TEST_CASE("on one GPU nothing is sharded and no byte moves, but the hooks are paid") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    INFO(strategy);
    const Plan plan = plan_of(blocks_on(1), strategy);
    CHECK(plan.buckets.empty());
    for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, ""))
      CHECK(plan.graph.tasks()[id].traffic.count == 0);
    CHECK(plan.memory == StrategyMemory{});
    CHECK(decision_about(plan, "one GPU")->choice == "nothing is sharded");
    CHECK(run_plan(blocks_on(1), strategy).last_step_s() > run_plan(blocks_on(1), "single").last_step_s());
  }
}

TEST_CASE("the optimizer updates one flat shard per unit, in FSDP2 one of every parameter") {
  SmallPlan small = blocks_on(4);
  small.workload.optimizer.form = OptimizerForm::for_loop;  // SGD: one kernel per tensor
  CHECK(test::kernels_per_step(plan_of(small, "fsdp"), "optimizer") == 5);
  CHECK(test::kernels_per_step(plan_of(small, "fsdp2"), "optimizer") == 12);  // six layers, weight and bias
  small.gpus = 1;
  CHECK(test::kernels_per_step(plan_of(small, "single"), "optimizer") == 12);
}

TEST_CASE("the optimizer's kernels take a quarter of the time on a quarter of the parameters") {
  SmallPlan alone(test::named_blocks(4)), four = blocks_on(4);
  for (SmallPlan* small : {&alone, &four}) {
    small->workload.optimizer = {OptimizerKind::adam, OptimizerForm::fused, false};
    small->device.kernel.time_scale = 100;  // bytes, not launches
  }
  const auto time = [](const Plan& plan) {
    Time sum{};
    for (const TaskId id : tasks_labelled(plan.graph, TaskKind::kernel, "optimizer"))
      sum += plan.graph.tasks()[id].duration;
    return to_seconds(sum);
  };
  CHECK(time(plan_of(four, "fsdp")) == Approx(time(plan_of(alone, "single")) / 4).epsilon(0.1));
}

TEST_CASE("clipping and the GradScaler's check take one sum over the shards") {
  SmallPlan small = blocks_on(4);
  CHECK(test::sent_per_step(plan_of(small, "fsdp"), "sum of norms").count == 0);
  small.workload.loop.clip_grad_norm = GradientClipping::on_device;
  CHECK(test::sent_per_step(plan_of(small, "fsdp"), "sum of norms") == test::Sent{4, 1});
  small.workload.loop.clip_grad_norm = GradientClipping::none;
  small.workload.precision = Precision::amp_fp16;
  CHECK(test::sent_per_step(plan_of(small, "fsdp"), "sum of norms").count == 1);
}

TEST_CASE("units by size instead of by block") {
  SmallPlan small = blocks_on(4);
  small.knobs.edit<FsdpOptions>().unit_parameters = 3 * kLinear;  // stem, 0, 1 and 2, 3, head
  const Plan plan = plan_of(small, "fsdp");
  CHECK(plan.buckets == std::vector<Bytes>{{12 * kLinear}, {12 * kLinear}});
  CHECK(decision_about(plan, "units")->choice == "2 and the root");
}

TEST_CASE("a network without blocks is gathered as a whole, and its reduction cannot overlap") {
  SmallPlan small(test::mnist_net());
  small.gpus = 4;
  const Plan plan = plan_of(small, "fsdp");
  CHECK(plan.buckets == std::vector<Bytes>{{4 * 1'199'884}});  // 1,199,882 padded to a multiple of four
  CHECK(test::sent_per_step(plan, "all_gather").count == 1);
}

TEST_CASE("defaults follow the version of PyTorch") {
  SmallPlan small = blocks_on(4);
  const Placement placement = place_packed(4, 1);
  const Cluster cluster = Cluster::build(small.spec, 4);
  const auto settings = [&](FrameworkVersion version) {
    small.workload.framework.version = version;
    return fsdp_settings({small.workload, cluster, placement, small.knobs, small.device}, false);
  };
  CHECK(settings({1, 13}).backward_prefetch == BackwardPrefetch::none);
  CHECK_FALSE(settings({1, 13}).limit_all_gathers);
  CHECK(settings({2, 0}).backward_prefetch == BackwardPrefetch::pre);
  CHECK(settings({2, 0}).limit_all_gathers);
  small.knobs.edit<FsdpOptions>().backward_prefetch = BackwardPrefetch::post,
  small.knobs.edit<FsdpOptions>().limit_all_gathers = false;
  CHECK(settings({2, 0}).backward_prefetch == BackwardPrefetch::post);
  CHECK_FALSE(settings({2, 0}).limit_all_gathers);
}

TEST_CASE(
    "GPT-2 XL on eight GPUs holds an eighth, the root, three blocks and a block's gradient, to the byte") {
  const SmallPlan small = filled(gpt2_xl());
  const Plan plan = plan_of(small, "fsdp");
  REQUIRE(kBlock * 48 + kRoot == kAll);
  const MemoryUse use = memory_of(small, plan);
  CHECK(use.parameters.count == 0);                  // the fp32 shards are the master weights
  CHECK(use.gradients.count == 4 * kAll / 8);        // fp32 shards
  CHECK(use.optimizer.count == (8 + 4) * kAll / 8);  // two moments and the master weights
  CHECK(use.buckets.count == kWhole);
}

TEST_CASE("what is whole when backward begins lies where shards of gradients will be") {
  REQUIRE(kWhole < 4 * kAll / 8);
  const SmallPlan small = gpt2_xl();
  CHECK(memory_of(small, plan_of(small, "fsdp")).buckets.count == 0);
}

TEST_CASE("shards of frozen parameters stay in fp32") {
  SmallPlan small = gpt2_xl();
  ExpandedModel model = *small.workload.model;
  model.frozen = model.parameters;  // as many again
  small.workload.model = std::make_shared<const ExpandedModel>(std::move(model));
  CHECK(memory_of(small, plan_of(small, "fsdp")).parameters.count == 4 * kAll / 8);
}

TEST_CASE("shard_grad_op holds all parameters between forward and backward") {
  SmallPlan small = filled(gpt2_xl());
  small.knobs.edit<FsdpOptions>().sharding = Sharding::shard_grad_op;
  const Plan plan = plan_of(small, "fsdp");
  CHECK(memory_of(small, plan).buckets.count == 2 * (kAll + 2 * 1600 + kBlock));
}

TEST_CASE("hybrid_shard holds a share of its node's GPUs") {
  SmallPlan small = blocks_on(8);
  small.spec = test::nvlink_cluster(2, 2);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::hybrid_shard;
  CHECK(plan_of(small, "fsdp").memory.parameters == 1.0 / 4);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::full_shard;
  CHECK(plan_of(small, "fsdp").memory.parameters == 1.0 / 8);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::no_shard;
  CHECK(plan_of(small, "fsdp").memory == StrategyMemory{});
}

TEST_CASE("hybrid_shard on nodes that are not filled alike is pointed out") {
  SmallPlan small = blocks_on(6);  // four and two
  small.spec = test::nvlink_cluster(2, 2);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::hybrid_shard;
  const Plan plan = plan_of(small, "fsdp");
  REQUIRE(decision_about(plan, "hybrid_shard") != nullptr);
  CHECK(plan.memory.parameters == 1.0 / 4);
  small.gpus = 8;
  CHECK(decision_about(plan_of(small, "fsdp"), "hybrid_shard") == nullptr);
}

TEST_CASE("accumulating without synchronisation holds every gradient whole") {
  SmallPlan small = gpt2_xl();
  small.knobs.accumulation = 2;
  CHECK(memory_of(small, plan_of(small, "fsdp")).buckets.count == kWhole + 2 * kAll);
}

TEST_CASE("without no_sync every micro-step reduces its gradients, and none stays whole") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    SmallPlan with = gpt2_xl();
    with.knobs.accumulation = 3;
    SmallPlan without = with;
    without.knobs.no_sync = false;
    const Plan whole = plan_of(with, strategy), shared = plan_of(without, strategy);
    const auto reductions = [](const Plan& plan) {
      return tasks_labelled(plan.graph, TaskKind::collective, "reduce_scatter of units").size();
    };
    CHECK(reductions(shared) == 3 * reductions(whole));
    CHECK(shared.buckets == whole.buckets);  // of one exchange, as DDP has it
    CHECK(whole.memory.buffers.count - shared.memory.buffers.count == 2 * kAll);
  }
}

TEST_CASE("gradients summed in fp32 are twice as many bytes as those of 16 bits") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    const SmallPlan half = filled(gpt2_xl());
    SmallPlan wide = half;
    wide.knobs.edit<FsdpOptions>().reduce_dtype = ReduceType::fp32;
    const Plan narrow_plan = plan_of(half, strategy), wide_plan = plan_of(wide, strategy);
    REQUIRE(narrow_plan.buckets.size() == wide_plan.buckets.size());
    for (std::size_t i = 0; i < wide_plan.buckets.size(); ++i)
      CHECK(wide_plan.buckets[i].count == 2 * narrow_plan.buckets[i].count);
    CHECK(wide_plan.memory.buffers > narrow_plan.memory.buffers);
    SmallPlan full = half;  // in 32 bits there is nothing to widen
    full.workload.half_weights = false, full.steps = 3;
    SmallPlan same = full;
    same.knobs.edit<FsdpOptions>().reduce_dtype = ReduceType::fp32;
    CHECK(run_plan(same, strategy).last_step_s() == run_plan(full, strategy).last_step_s());
  }
}

TEST_CASE("a policy's types are those of the messages") {
  const auto types = [](const SmallPlan& small, CollectiveOp op) {
    std::set<WireType> out;
    for (const TrafficNote& note : plan_of(small, "fsdp2").graph.traffic_notes()) {
      if (static_cast<CollectiveOp>(note.operation) == op) out.insert(static_cast<WireType>(note.type));
    }
    return out;
  };
  SmallPlan small = gpt2_xl();
  small.workload.half_weights = false;
  CHECK(types(small, CollectiveOp::all_gather) == std::set{WireType::fp32});
  FsdpOptions& options = small.knobs.edit<FsdpOptions>();
  options.reduce_dtype = ReduceType::bf16;  // autocast over parameters of fp32
  CHECK(types(small, CollectiveOp::all_gather) == std::set{WireType::fp32});
  CHECK(types(small, CollectiveOp::reduce_scatter) == std::set{WireType::bf16});
  small.workload.half_weights = true;
  options.param_dtype = ParamType::fp16, options.reduce_dtype = ReduceType::fp32;
  CHECK(types(small, CollectiveOp::all_gather) == std::set{WireType::fp16});
  CHECK(types(small, CollectiveOp::reduce_scatter) == std::set{WireType::fp32});
}

TEST_CASE("a sharded GPT-2 XL fits a larger batch than one that every GPU holds whole") {
  const SmallPlan small = gpt2_xl();
  const auto most = [&](const char* strategy) {
    const Plan plan = plan_of(small, strategy);
    return largest_batch(small.workload, {plan.memory, small.gpus, Architecture::ampere}, {80LL << 30});
  };
  CHECK(most("ddp") < most("fsdp"));
}

TEST_CASE("shards of weights recorded in 16 bits have 16 bits and are not cast") {
  SmallPlan small = gpt2_xl();
  small.workload.precision = Precision::bf16, small.workload.half_weights = false;
  ExpandedModel half = *small.workload.model;
  for (Parameter& parameter : half.parameters) parameter.element_bytes = 2;
  half.recording = std::make_shared<const Recording>(Recording{.is_half = true});
  small.workload.model = std::make_shared<const ExpandedModel>(std::move(half));
  const Plan plan = plan_of(small, "fsdp");
  const MemoryUse use = memory_of(small, plan);
  CHECK(use.parameters.count == 2 * kAll / 8);
  CHECK(use.gradients.count == 2 * kAll / 8);
  CHECK(use.optimizer.count == 2 * 2 * kAll / 8);  // two moments, no master weights
  CHECK(tasks_labelled(plan.graph, TaskKind::kernel, "cast of shards").empty());
  // DeepSpeed keeps master weights and states in fp32 all the same.
  CHECK(memory_of(small, plan_of(small, "zero1")).optimizer.count == (8 + 4) * kAll / 8);
}

TEST_CASE("the optimizer's temporaries are those of the shard") {
  SmallPlan small = gpt2_xl();
  small.workload.optimizer.form = OptimizerForm::foreach;
  const Plan plan = plan_of(small, "fsdp");
  // A batch of nothing leaves only the temporaries: 4 bytes for each of 1/8 of the parameters.
  small.workload.batch_per_gpu = 0;
  const Bytes temporaries = memory_of(small, plan).activations;
  CHECK(temporaries.count == 4 * kAll / 8);
}

TEST_CASE("FSDP says how many units it made and who shares what") {
  const Plan plan = plan_of(blocks_on(4), "fsdp");
  CHECK(decision_about(plan, "units")->choice == "4 and the root");
  CHECK_THAT(decision_about(plan, "units")->why,
             ContainsSubstring("the largest has 1049600 parameters, the root 2099200"));
  CHECK(decision_about(plan, "sharding")->choice == "full_shard");
  CHECK_THAT(decision_about(plan, "sharding")->why, ContainsSubstring("4 GPUs hold one copy"));
  CHECK(decision_about(plan_of(blocks_on(4), "fsdp2"), "rate limiter") == nullptr);
}

TEST_CASE("a plan of one sharded step is a prefix of a plan of two") {
  for (const char* strategy : {"fsdp", "fsdp2", "zero1", "zero2", "zero3"}) {
    SmallPlan one = blocks_on(4), two = blocks_on(4);
    one.steps = 1, two.steps = 2;
    const Plan a = plan_of(one, strategy), b = plan_of(two, strategy);
    INFO(strategy);
    REQUIRE(a.graph.tasks().size() < b.graph.tasks().size());
    CHECK(a.step_ends[0] == b.step_ends[0]);
    CHECK(a.buckets == b.buckets);
  }
}

TEST_CASE("a sharded step ends on the compute stream") {
  for (const char* strategy : {"fsdp", "fsdp2", "zero0", "zero1", "zero3"}) {
    INFO(strategy);
    const Plan plan = plan_of(blocks_on(4), strategy);
    for (const TaskId end : plan.step_ends)
      CHECK(plan.graph.queues()[plan.graph.tasks()[end].queue].name == "compute stream");
  }
}

TEST_CASE("the catalog knows both with their options") {
  const StrategyEntry* one = find_strategy("fsdp");
  const StrategyEntry* two = find_strategy("fsdp2");
  REQUIRE(one != nullptr);
  REQUIRE(two != nullptr);
  CHECK(one->knobs.size() == 12);
  CHECK(two->knobs.size() == 10);
  CHECK(one->framework == FrameworkKind::pytorch);
}

}  // namespace fsdp_test
