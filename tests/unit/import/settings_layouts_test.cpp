// Training settings that say a layout, a network or what a program calls: Megatron-LM, axolotl,
// LLaMA-Factory, variables and loaders in Python.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"

namespace settings_layouts_test {

using namespace foretrain;

namespace {

TrainingSettings read(const std::string& text, int gpus = 0) {
  return read_settings({"file", text}, {gpus, nullptr, nullptr});
}

std::string mistake(const std::string& text, int gpus = 0) {
  try {
    read(text, gpus);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Paths of the keys with a fate, in the order of the text.
std::vector<std::string> with_fate(const TrainingSettings& settings, KeyFate fate) {
  std::vector<std::string> out;
  for (const ReadKey& key : settings.keys) {
    if (key.fate == fate) out.push_back(key.path);
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Megatron-LM: arguments of data parallel alone") {
  const TrainingSettings arguments = read(
      "--tensor-model-parallel-size 1\n--micro-batch-size 2 --global-batch-size 64 "
      "--num-attention-heads 16 --bf16 --use-distributed-optimizer --clip-grad 1.0\n",
      4);
  CHECK(value_of(arguments, "strategy.accumulation") == "8");  // 64 / (2 x 4 replicas)
  CHECK(value_of(arguments, "strategy.name") == "\"zero1\"");
  CHECK(value_of(arguments, "parallel.tensor").empty());
}

TEST_CASE("Megatron-LM: degrees that cut the network become the table parallel") {
  const std::string text =
      "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2\n--micro-batch-size 2 "
      "--global-batch-size 64 --num-layers 8 --num-layers-per-virtual-pipeline-stage 2\n"
      "--num-attention-heads 16 --bf16 --use-distributed-optimizer --clip-grad 1.0 --recompute-granularity "
      "full --recompute-method block --recompute-num-layers 3\n";
  const TrainingSettings arguments = read(text, 16);
  for (const auto& [key, value] : {std::pair{"parallel.tensor", "2"},
                                   {"parallel.pipeline", "2"},
                                   {"parallel.virtual_stages", "2"},
                                   {"parallel.micro_batch", "2"},
                                   {"parallel.global_batch", "64"},
                                   {"parallel.shard", "\"optimizer\""},
                                   {"parallel.sequence_parallel", "false"},
                                   {"parallel.recompute", "\"full\""},
                                   {"parallel.recomputed_layers", "3"},
                                   {"model.precision", "\"bf16\""},
                                   {"strategy.name", ""},
                                   {"strategy.accumulation", ""},
                                   {"model.network", ""}}) {
    INFO(key);
    CHECK(value_of(arguments, key) == value);
  }
  CHECK(with_fate(arguments, KeyFate::not_modelled).empty());
  CHECK_THAT(mistake(text, 6), ContainsSubstring("TP 2 x PP 2 is 4 GPUs for each replica of the network, "
                                                 "which do not divide the job's 6"));
  CHECK_THAT(mistake(text, 2),
             ContainsSubstring("file:1:32: error: TP 2 x PP 2 needs 4 GPUs, the job has 2"));
}

TEST_CASE("Megatron-LM: sizes of the layers become a network") {
  const std::string sizes = "--num-layers 2 --hidden-size 256 --num-attention-heads 4 --seq-length 128 ";
  const std::string gpt = value_of(read(sizes + "--micro-batch-size 1\n"), "model.network");
  CHECK_THAT(gpt, ContainsSubstring("type = \"layer_norm\""));
  CHECK_THAT(gpt, ContainsSubstring("entries = 50304, out = 256"));
  const std::string llama =
      value_of(read(sizes + "--micro-batch-size 1 --swiglu --group-query-attention --num-query-groups 2 "
                            "--tokenizer-type Llama2Tokenizer\n"),
               "model.network");
  CHECK_THAT(llama, ContainsSubstring("rms_norm"));
  CHECK_THAT(llama, ContainsSubstring("32000"));
  CHECK_THAT(llama, ContainsSubstring("out = 640"));  // 4 x 256 x 2 / 3 in steps of 64
  CHECK_THAT(mistake("--num-layers 2 --hidden-size 250 --num-attention-heads 4 --seq-length 128 "
                     "--micro-batch-size 1\n"),
             ContainsSubstring("no network has these sizes"));
}

TEST_CASE("LLaMA-Factory's adapters and axolotl's sharding are not without influence") {
  const TrainingSettings factory = read("per_device_train_batch_size: 1\nfinetuning_type: oft\n");
  CHECK(with_fate(factory, KeyFate::not_modelled) == Names{"finetuning_type"});
  CHECK(with_fate(read("per_device_train_batch_size: 1\nstage: dpo\n"), KeyFate::not_modelled) ==
        Names{"stage"});
  CHECK(with_fate(read("per_device_train_batch_size: 1\nstage: sft\n"), KeyFate::not_modelled).empty());
  CHECK(with_fate(read("per_device_train_batch_size: 1\nfinetuning_type: full\n"), KeyFate::not_modelled)
            .empty());
  const TrainingSettings axolotl = read(
      "base_model: a/b\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n"
      "num_epochs: 1\noptimizer: adamw_torch_fused\nbf16: auto\ngradient_checkpointing: true\nfsdp:\n  - "
      "full_shard\n  - auto_wrap\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_sharding_strategy: "
      "FULL_SHARD\n");
  CHECK(axolotl.format == "axolotl YAML");
  CHECK(value_of(axolotl, "strategy.name") == "\"fsdp\"");
  CHECK(value_of(axolotl, "strategy.sharding") == "\"full_shard\"");
  CHECK(value_of(axolotl, "model.batch_per_gpu") == "2");
  CHECK(value_of(axolotl, "strategy.accumulation") == "4");
  CHECK(value_of(axolotl, "model.recompute") == "true");
  CHECK(value_of(axolotl, "model.precision") == "\"bf16\"");
  CHECK(value_of(axolotl, "strategy.offload_params") == "true");
  CHECK(with_fate(axolotl, KeyFate::not_modelled).empty());
  CHECK(with_fate(axolotl, KeyFate::unknown).empty());
  CHECK(value_of(read("base_model: a/b\nmicro_batch_size: 2\n"), "strategy.name") == "\"ddp\"");
  for (const char* batch : {"per_device_train_batch_size: 1\n", "base_model: a/b\nmicro_batch_size: 2\n"})
    CHECK(with_fate(read(std::string(batch) + "group_by_length: true\n"), KeyFate::not_modelled) ==
          Names{"group_by_length"});
}

TEST_CASE("a variable that is assigned once stands for its value") {
  const std::string trainer = "t = L.Trainer(devices=4, strategy=plan)\n";
  const TrainingSettings one = read(
      "plan = FSDPStrategy(auto_wrap_policy=policy, activation_checkpointing=Block,\n    "
      "limit_all_gathers=True, cpu_offload=False)\n" +
      trainer);
  CHECK(value_of(one, "strategy.name") == "\"fsdp\"");
  CHECK(value_of(one, "model.recompute") == "true");
  CHECK(value_of(one, "strategy.limit_all_gathers") == "true");
  // Of two nobody knows which; a value that is computed is not known; keywords of a call are no variables.
  CHECK(value_of(read("plan = 'ddp'\nplan = 'fsdp'\n" + trainer), "strategy.name").empty());
  CHECK(value_of(read("plan = 'fs' + 'dp'\n" + trainer), "strategy.name").empty());
  CHECK(value_of(read("f(\n  plan = 'fsdp'\n)\n" + trainer), "strategy.name").empty());
  CHECK(value_of(read("n = 4\nt = L.Trainer(devices=n, max_epochs=3)\n"), "run.gpus") == "[1, 4]");
  CHECK_NOTHROW(read("a = [a, a]\na.b = 3\nt = L.Trainer(devices=a)\n"));
}

TEST_CASE("DataLoader's arguments are of the process, under DataParallel of all GPUs") {
  const std::string loader = "loader = DataLoader(data, batch_size=48, num_workers=12, pin_memory=True)\n";
  const TrainingSettings all = read("model = nn.DataParallel(Net()).cuda()\n" + loader);
  CHECK(value_of(all, "strategy.name") == "\"data_parallel\"");
  CHECK(value_of(all, "model.global_batch") == "48");
  CHECK(value_of(all, "data.workers_per_gpu") == "12");
  CHECK(value_of(all, "data.per_process") == "true");
  CHECK(value_of(all, "data.pinned") == "true");
  const TrainingSettings each =
      read("model = DDP(Net())\n" + loader + "test = DataLoader(other, batch_size=1000)\n");
  CHECK(value_of(each, "model.batch_per_gpu") == "48");
  CHECK(value_of(each, "strategy.name") == "\"ddp\"");
  CHECK(value_of(each, "data.per_process").empty());
}

TEST_CASE("settings that decide and are not modelled are named once, with their place and effect") {
  const TrainingSettings factory = read("per_device_train_batch_size: 1\nfinetuning_type: oft\n");
  const std::vector<UnmodelledSetting> found = unmodelled_settings(factory);
  REQUIRE(found.size() == 1);
  CHECK(found.front().setting == "finetuning_type = oft");
  CHECK_THAT(found.front().place, Catch::Matchers::EndsWith(":2"));
  CHECK((found.front().decides_memory && found.front().decides_time));
  CHECK_FALSE(found.front().between_nodes);
  CHECK(unmodelled_settings(read("per_device_train_batch_size: 1\nstage: dpo\n")).empty());
}

}  // namespace settings_layouts_test
