// DeepSpeed's stages as strategies: what each shards, one GPU, memory to the byte, what it says.
#include "sim/strategy/zero/zero.hpp"

#include "sim/strategy/catalog.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace zero_test {

using namespace foretrain;
using test::blocks_on;
using test::decision_about;
using test::model_file;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

constexpr const char* kStages[] = {"zero0", "zero1", "zero2", "zero3"};

/// A network in 16 bits with Adam on eight GPUs of a node.
SmallPlan on_eight(const std::string& model) {
  SmallPlan small;
  small.workload.model = std::make_shared<const ExpandedModel>(model_file(model));
  small.workload.batch_per_gpu = 1;
  small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  small.workload.optimizer = {OptimizerKind::adam, OptimizerForm::fused, false};
  small.spec = test::nvswitch_node();
  small.gpus = 8, small.steps = 1;
  return small;
}

/// What a bucket and the gradients that wait for it, or are packed, take beyond the peak of activations.
std::int64_t beyond_activations(const SmallPlan& small, std::int64_t bucket, std::int64_t gradients,
                                bool is_one_bucket = true) {
  const ActivationPeaks peaks = activation_peaks(small.workload);
  REQUIRE(peaks.backward <= peaks.step);
  const std::int64_t beside =
      is_one_bucket ? std::max(peaks.backward, gradients) : peaks.backward + gradients;
  return std::max<std::int64_t>(0, bucket + beside - peaks.step);
}

MemoryUse memory_of(const SmallPlan& small, const char* strategy) {
  return memory_use(small.workload, {plan_of(small, strategy).memory, small.gpus, Architecture::ampere});
}

constexpr std::int64_t kGpt2Xl = 1'557'611'200, kBertLarge = 336'226'108;
constexpr std::int64_t kBucket = 1'000'000'000;  // 5e8 elements of two bytes

}  // namespace

TEST_CASE("zero is stage 0, for that is what DeepSpeed does when its configuration has no ZeRO section") {
  REQUIRE(find_strategy("zero") != nullptr);
  CHECK(find_strategy("zero")->name == "zero0");
  for (const char* stage : kStages) CHECK(find_strategy(stage)->framework == FrameworkKind::pytorch);
}

TEST_CASE("on one GPU every stage runs, moves no byte and costs more than the plain loop") {
  for (const char* stage : kStages) {
    INFO(stage);
    const Plan plan = plan_of(blocks_on(1), stage);
    CHECK(plan.buckets.empty());
    for (const TaskId id : tasks_labelled(plan.graph, TaskKind::collective, ""))
      CHECK(plan.graph.tasks()[id].traffic.count == 0);
    CHECK(plan.memory.parameters == 1);
    CHECK(plan.memory.optimizer == 1);
    CHECK(run_plan(blocks_on(1), stage).last_step_s() > run_plan(blocks_on(1), "single").last_step_s());
  }
}

TEST_CASE("each stage shards one thing more") {
  const auto shares = [](const char* stage) {
    const StrategyMemory memory = plan_of(blocks_on(4), stage).memory;
    return std::vector<double>{memory.parameters, memory.gradients, memory.optimizer};
  };
  CHECK(shares("zero0") == std::vector<double>{1, 1, 1});
  CHECK(shares("zero1") == std::vector<double>{1, 1, 0.25});
  CHECK(shares("zero2") == std::vector<double>{1, 0.25, 0.25});
  CHECK(shares("zero3") == std::vector<double>{0.25, 0.25, 0.25});
}

TEST_CASE("GPT-2 XL on eight GPUs, stage 1 and 2, to the byte") {
  const SmallPlan small = on_eight("gpt2_xl");
  const MemoryUse one = memory_of(small, "zero1"), two = memory_of(small, "zero2");
  for (const MemoryUse& use : {one, two}) {
    CHECK(use.parameters.count == 2 * kGpt2Xl);
    CHECK(use.optimizer.count == 12 * kGpt2Xl / 8);  // two moments and the master weights
  }
  // Beside the bucket its gradients are packed once more, and in stage 2 are whole until then.
  CHECK(one.buckets.count == beyond_activations(small, kBucket, kBucket, false));
  CHECK(two.buckets.count == beyond_activations(small, kBucket, 2 * kBucket, false));
  CHECK(two.buckets.count == one.buckets.count + kBucket);
  CHECK(one.gradients.count == 2 * kGpt2Xl);
  CHECK(two.gradients.count == 2 * kGpt2Xl / 8);
}

TEST_CASE("BERT-large on eight GPUs, stages 0 to 3, to the byte") {
  const SmallPlan small = on_eight("bert_large_s128");
  CHECK(memory_of(small, "zero0").buckets.count == 2 * kBertLarge);
  CHECK(memory_of(small, "zero0").optimizer.count == 12 * kBertLarge);
  CHECK(memory_of(small, "zero1").optimizer.count == 12 * kBertLarge / 8);
  CHECK(memory_of(small, "zero2").gradients.count == 2 * kBertLarge / 8);
  const MemoryUse three = memory_of(small, "zero3");
  CHECK(three.parameters.count == 2 * kBertLarge / 8);
  // All of its parameters come back within 1e9 elements, so all are whole from forward to backward.
  CHECK(three.buckets.count == 2 * kBertLarge + beyond_activations(small, kBucket, 2 * 2 * kBertLarge));
}

TEST_CASE("what stage 3 keeps whole ends at the live parameters, give or take one gather ahead") {
  const SmallPlan small = on_eight("gpt2_xl");
  const std::int64_t buckets = memory_of(small, "zero3").buckets.count;
  // Besides, the gradients of a bucket whole and packed.
  const std::int64_t beside = beyond_activations(small, kBucket, 2 * kBucket, false);
  CHECK(buckets >= beside + std::int64_t{2} * 1'000'000'000);
  CHECK(buckets <=
        beside + 2 * (std::int64_t{1'050'000'000} + 2 * 80'411'200));  // the words are gathered whole
}

TEST_CASE("in fp32 the optimizer has a copy of its partition's weights, and the bucket is twice as large") {
  SmallPlan small = on_eight("bert_large_s128");
  small.workload.precision = Precision::fp32, small.workload.half_weights = false;
  CHECK(memory_of(small, "zero1").buckets.count ==
        4 * ((kBertLarge + 15) / 16 * 2) + beyond_activations(small, 2 * kBucket, 4 * kBertLarge));
  CHECK(memory_of(small, "zero1").optimizer.count == 8 * kBertLarge / 8);
}

TEST_CASE("overlap_comm takes a second bucket") {
  SmallPlan small = on_eight("bert_large_s128");
  small.knobs.edit<ZeroOptions>().overlap_comm = true;
  CHECK(memory_of(small, "zero2").buckets.count ==
        beyond_activations(small, 2 * kBucket, 2 * 2 * kBertLarge));
  small.knobs.edit<ZeroOptions>().reduce_bucket_size = 50'000'000;
  CHECK(memory_of(small, "zero2").buckets.count ==
        beyond_activations(small, 2 * 100'000'000, 2 * 100'000'000, false));
}

TEST_CASE("the largest batch grows with the stage") {
  const auto largest = [](SmallPlan small, const char* strategy, Bytes capacity) {
    return largest_batch(small.workload, {plan_of(small, strategy).memory, small.gpus, Architecture::ampere},
                         capacity);
  };
  // With small buckets and few live parameters, as people set them who are short of memory.
  SmallPlan small = on_eight("bert_large_s128");
  small.knobs.edit<ZeroOptions>().reduce_bucket_size = 50'000'000;
  small.knobs.edit<ZeroOptions>().max_live_parameters = small.knobs.edit<ZeroOptions>().max_reuse_distance =
      50'000'000;
  std::int64_t before = 0;
  for (const char* stage : kStages) {
    const std::int64_t now = largest(small, stage, {16LL << 30});
    INFO(stage << ": " << now);
    CHECK(now > before);
    before = now;
  }
}

TEST_CASE("GPT-2 XL needs less with every stage") {
  const SmallPlan small = on_eight("gpt2_xl");
  Bytes before = memory_of(small, "single").total();
  for (const char* stage : {"zero1", "zero2", "zero3"}) {
    const Bytes now = memory_of(small, stage).total();
    INFO(stage << ": " << now.count);
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE(
    "stage 1 sends its weights besides the gradients and so is slower than stage 0 behind a slow network") {
  SmallPlan small = blocks_on(4);
  small.spec = test::star_cluster(4, {1e9});
  CHECK(run_plan(small, "zero1").last_step_s() > run_plan(small, "zero0").last_step_s());
}

TEST_CASE("it says what is sharded, how gradients travel and what stays whole") {
  const Plan plan = plan_of(blocks_on(4), "zero3");
  CHECK(decision_about(plan, "ZeRO")->choice == "stage 3");
  CHECK_THAT(decision_about(plan, "ZeRO")->why, ContainsSubstring("over 4 GPUs"));
  CHECK_THAT(decision_about(plan, "gradient messages")->why, ContainsSubstring("500000000 elements"));
  REQUIRE(decision_about(plan, "live parameters") != nullptr);
  CHECK(decision_about(plan_of(blocks_on(4), "zero2"), "live parameters") == nullptr);
  CHECK_THAT(decision_about(plan_of(blocks_on(4), "zero2"), "reduction")->why,
             ContainsSubstring("not a reduce_scatter"));
}

TEST_CASE("autocast under DeepSpeed is pointed out: its fp16 makes the weights 16-bit") {
  SmallPlan small = blocks_on(4);
  small.workload.precision = Precision::bf16;
  CHECK_THAT(decision_about(plan_of(small, "zero1"), "weights")->why,
             ContainsSubstring("model.half_weights"));
  small.workload.half_weights = true;
  CHECK(decision_about(plan_of(small, "zero1"), "weights") == nullptr);
}

TEST_CASE("stages have the options that mean something to them") {
  CHECK(find_strategy("zero0")->knobs.empty());
  CHECK(find_strategy("zero1")->knobs.size() == 9);
  CHECK(find_strategy("zero2")->knobs.size() == 9);
  CHECK(find_strategy("zero3")->knobs.size() == 11);
  // DeepSpeed overlaps the reduction of stage 3 unless told otherwise.
  for (const auto& [strategy, fallback] :
       {std::pair{"zero1", "false"}, {"zero2", "false"}, {"zero3", "true"}}) {
    for (const Knob& knob : find_strategy(strategy)->knobs) {
      if (knob.name != "overlap_comm") continue;
      CHECK(knob.fallback == fallback);
      CHECK(knob.example != fallback);
    }
  }
}

}  // namespace zero_test
