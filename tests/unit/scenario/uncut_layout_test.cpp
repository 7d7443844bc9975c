// Which layouts are strategies, and what the strategy's scenario says.
#include "sim/scenario/uncut_layout.hpp"

#include "sim/scenario/scenario.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "tests/support/catch.hpp"

namespace uncut_layout_test {

using namespace foretrain;

namespace {

Scenario laid_out(std::vector<std::string> settings) {
  ScenarioOverrides overrides;
  overrides.model = "gpt2", overrides.cluster = "dgx-a100-80gb", overrides.gpus = {8};
  overrides.settings = std::move(settings);
  return make_scenario(overrides);
}

bool is_strategy(std::vector<std::string> settings) {
  settings.emplace_back("parallel.framework=\"deepspeed\"");
  return runs_as_strategy(*laid_out(std::move(settings)).parallel);
}

}  // namespace

TEST_CASE("DeepSpeed with nothing cut is the stage of ZeRO that its sharding names") {
  const std::pair<const char*, const char*> stages[] = {
      {"none", "zero0"}, {"optimizer", "zero1"}, {"gradients", "zero2"}, {"parameters", "zero3"}};
  for (const auto& [shard, strategy] : stages) {
    const Scenario scenario =
        laid_out({"parallel.framework=\"deepspeed\"", "parallel.micro_batch=2", "parallel.global_batch=64",
                  "parallel.shard=\"" + std::string(shard) + "\""});
    const std::optional<Scenario> own = as_strategy(scenario, 8);
    REQUIRE(own);
    CHECK(own->strategy == strategy);
    CHECK(!own->parallel);
    CHECK(own->workload.batch_per_gpu == 2);
    CHECK(own->knobs.accumulation == 4);  // 64 sequences are 4 micro-batches of 2 on 8 GPUs
    CHECK(own->workload.half_weights);
    CHECK(own->workload.model == scenario.workload.model);
  }
}

TEST_CASE("a key that no strategy knows, or a degree, keeps the layout") {
  CHECK(is_strategy({}));
  CHECK(is_strategy({"parallel.recompute=\"full\"", "parallel.attention=\"flash-1\""}));
  for (const char* setting :
       {"parallel.tensor=2", "parallel.pipeline=2", "parallel.cuda_graphs=true",
        "parallel.offload=\"activations\"", "parallel.gradient_bytes=2", "parallel.overlap_gradients=false",
        "parallel.recompute=\"selective\"", "parallel.next_tokens=1", "parallel.precision=\"fp4\"",
        "parallel.framework=\"megatron\"", "parallel.framework=\"nanotron\"",
        "parallel.framework=\"torchtitan\""}) {
    INFO(setting);
    std::vector<std::string> settings{"parallel.framework=\"deepspeed\"", setting};
    CHECK(!runs_as_strategy(*laid_out(settings).parallel));
  }
}

TEST_CASE("PyTorch is DDP under autocast or FSDP, llm-foundry exchanges in every micro-step") {
  const std::optional<Scenario> replicated =
      as_strategy(laid_out({"parallel.framework=\"pytorch\"", "parallel.shard=\"none\""}), 8);
  REQUIRE(replicated);
  CHECK(replicated->strategy == "ddp");
  CHECK(!replicated->workload.half_weights);
  const std::optional<Scenario> sharded =
      as_strategy(laid_out({"parallel.framework=\"pytorch\"", "parallel.shard=\"parameters\""}), 8);
  REQUIRE(sharded);
  CHECK(sharded->strategy == "fsdp");
  CHECK(sharded->workload.half_weights);
  CHECK(sharded->knobs.no_sync);
  const std::optional<Scenario> foundry =
      as_strategy(laid_out({"parallel.framework=\"llm-foundry\"", "parallel.shard=\"gradients\""}), 8);
  REQUIRE(foundry);
  CHECK(foundry->strategy == "fsdp");
  CHECK(foundry->workload.framework.execution == Execution::eager);
  CHECK(!foundry->knobs.no_sync);
  CHECK(foundry->knobs.get<FsdpOptions>().sharding == Sharding::shard_grad_op);
}

TEST_CASE("sequence, attention and recomputation of the layout change the network") {
  const Scenario scenario = laid_out({"parallel.framework=\"deepspeed\"", "parallel.sequence=512",
                                      "parallel.attention=\"flash-1\"", "parallel.recompute=\"full\""});
  const std::optional<Scenario> own = as_strategy(scenario, 8);
  REQUIRE(own);
  CHECK(own->model.input == std::vector<std::int64_t>{512});
  CHECK(own->workload.framework.attention == AttentionKernel::version_1);
  CHECK(own->workload.recompute);
  CHECK(own->workload.model->parameter_elements() == scenario.workload.model->parameter_elements());
  CHECK(own->workload.model->backward.size() > scenario.workload.model->backward.size());
}

TEST_CASE("a sequence that the network's table of positions does not hold keeps the layout") {
  const Scenario scenario = laid_out({"parallel.framework=\"deepspeed\"", "parallel.sequence=4096"});
  CHECK(runs_as_strategy(*scenario.parallel));
  CHECK(!as_strategy(scenario, 8));  // GPT-2 has 1,024 places
}

TEST_CASE("an optimizer with two moments stays, another becomes AdamW") {
  const auto kind = [](const char* optimizer) {
    return as_strategy(laid_out({"parallel.framework=\"deepspeed\"",
                                 std::string("model.optimizer=\"") + optimizer + "\""}),
                       8)
        ->workload.optimizer.kind;
  };
  CHECK(kind("adam") == OptimizerKind::adam);
  CHECK(kind("lamb") == OptimizerKind::lamb);
  CHECK(kind("sgd") == OptimizerKind::adamw);
}

}  // namespace uncut_layout_test
