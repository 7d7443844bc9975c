// Training settings of other tools: what each key comes to, what is named as left out, contradictions.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "tests/support/catch.hpp"

namespace settings_test {

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

const std::string kZero3 = R"({
  // hjson allows comments
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 8,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "offload_optimizer": {"device": "cpu", "pin_memory": true},
    "stage3_prefetch_bucket_size": 1e7,
    "stage3_param_persistence_threshold": 1e5,
    "allgather_bucket_size": 5e8,
    "zero_quantized_weights": true,
  },
  "my_own_key": 7
})";

}  // namespace

TEST_CASE("DeepSpeed: keys of the configuration become keys of the scenario") {
  const TrainingSettings zero = read(kZero3);
  CHECK(zero.format == "DeepSpeed JSON");
  CHECK(value_of(zero, "strategy.name") == "\"zero3\"");
  CHECK(value_of(zero, "strategy.offload_optimizer") == "\"cpu\"");
  CHECK(value_of(zero, "strategy.prefetch_bucket_size") == "10000000");
  CHECK(value_of(zero, "model.batch_per_gpu") == "4");
  CHECK(value_of(zero, "strategy.accumulation") == "8");
  CHECK(value_of(zero, "model.precision") == "\"bf16\"");
  CHECK(value_of(zero, "model.half_weights") == "true");
  CHECK(said_by(zero, "strategy.name")->span.line == 7);
}

TEST_CASE("DeepSpeed: options of another stage have no influence, others are named") {
  const TrainingSettings zero = read(kZero3);
  CHECK(value_of(zero, "strategy.allgather_bucket_size").empty());
  CHECK(with_fate(zero, KeyFate::not_modelled) == Names{"zero_optimization.zero_quantized_weights"});
  CHECK(with_fate(zero, KeyFate::unknown) == Names{"my_own_key"});
}

TEST_CASE("DeepSpeed: a file without a stage is stage 0, and true is stage 1") {
  CHECK(value_of(read(R"({"train_batch_size": 64})"), "strategy.name") == "\"zero0\"");
  CHECK(value_of(read(R"({"train_batch_size": 64, "zero_optimization": true})"), "strategy.name") ==
        "\"zero1\"");
  CHECK(mistake(R"({"train_batch_size": 64, "zero_optimization": {"stage": 4}})").find("file:1:") !=
        std::string::npos);
}

TEST_CASE("DeepSpeed: two parts of the batch say the third, three must agree") {
  const std::string all = R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 16,
    "gradient_accumulation_steps": 2})";
  CHECK(value_of(read(all), "run.gpus") == "[1, 8]");
  CHECK(mistake(all, 4).find("asks for 8 GPUs") != std::string::npos);
  CHECK(
      mistake(
          R"({"train_batch_size": 250, "train_micro_batch_size_per_gpu": 16, "gradient_accumulation_steps": 2})")
          .find("no multiple") != std::string::npos);
  const std::string two = R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 16})";
  CHECK(value_of(read(two, 4), "strategy.accumulation") == "4");
  CHECK(with_fate(read(two), KeyFate::open) == Names{"train_batch_size"});
  CHECK(value_of(read(R"({"train_batch_size": 256, "gradient_accumulation_steps": 4})"),
                 "model.global_batch") == "64");
}

TEST_CASE("DeepSpeed: auto is what the program is told, or stays open") {
  const std::string text =
      R"({"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
    "train_batch_size": "auto", "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}, "gradient_clipping": "auto"})";
  const std::vector<ProgramArgument> arguments{{"batch_per_gpu", "--per_device_train_batch_size", "12"},
                                               {"bf16", "--bf16", "true"}};
  const TrainingSettings told = read_settings({"file", text}, {8, &arguments, nullptr});
  CHECK(value_of(told, "model.batch_per_gpu") == "12");
  CHECK(value_of(told, "model.precision") == "\"bf16\"");
  CHECK(value_of(told, "loop.clip_grad_norm") == "\"on_device\"");
  CHECK(with_fate(told, KeyFate::open) == Names{"zero_optimization.reduce_bucket_size"});
  CHECK(with_fate(read(text), KeyFate::open).size() == 6);
}

TEST_CASE("accelerate: FSDP with old and new names of its keys") {
  const TrainingSettings old = read(
      "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: 2\n  fsdp_backward_prefetch_policy: "
      "BACKWARD_POST\n  fsdp_auto_wrap_policy: SIZE_BASED_WRAP\n  fsdp_min_num_params: 2000000\n"
      "  fsdp_offload_params: true\nmixed_precision: fp16\nnum_machines: 2\nnum_processes: 8\n");
  CHECK(value_of(old, "strategy.name") == "\"fsdp\"");
  CHECK(value_of(old, "strategy.sharding") == "\"shard_grad_op\"");
  CHECK(value_of(old, "strategy.backward_prefetch") == "\"post\"");
  CHECK(value_of(old, "strategy.unit_parameters") == "2000000");
  CHECK(value_of(old, "model.half_weights") == "true");
  CHECK(value_of(old, "strategy.offload_params") == "true");
  CHECK(with_fate(old, KeyFate::not_modelled).empty());
  CHECK(old.processes == 8);
  CHECK(old.machines == 2);
  const TrainingSettings second =
      read("distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: false\n");
  CHECK(value_of(second, "strategy.name") == "\"fsdp2\"");
  CHECK(value_of(second, "strategy.sharding") == "\"shard_grad_op\"");
}

TEST_CASE("accelerate: DeepSpeed by its own keys, or by a file that it names") {
  CHECK(value_of(read("distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"),
                 "strategy.name") == "\"zero3\"");
  const std::string text =
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n";
  const auto find = [](const std::string& name) -> std::optional<SourceText> {
    return SourceText{name, R"({"zero_optimization": {"stage": 1}})"};
  };
  const TrainingSettings with = read_settings({"a.yaml", text}, {0, nullptr, find});
  CHECK(value_of(with, "strategy.name") == "\"zero1\"");
  CHECK(said_by(with, "strategy.name")->file == "ds.json");
  CHECK(with_fate(read(text), KeyFate::open) == Names{"deepspeed_config.deepspeed_config_file"});
}

TEST_CASE("accelerate: kinds that no GPUs train, parallelisms, contradictions") {
  CHECK(with_fate(read("distributed_type: XLA\nnum_processes: 8\n"), KeyFate::not_modelled) ==
        Names{"distributed_type"});
  const TrainingSettings megatron = read(
      "distributed_type: MEGATRON_LM\nmegatron_lm_config:\n  megatron_lm_tp_degree: '2'\n  "
      "megatron_lm_pp_degree: 1\n");
  CHECK(with_fate(megatron, KeyFate::not_modelled) == Names{"megatron_lm_config.megatron_lm_tp_degree"});
  CHECK(mistake("distributed_type: MULTI_GPU\nnum_machines: 3\nnum_processes: 8\n").find("file:3:") !=
        std::string::npos);
  CHECK(mistake("distributed_type: FSPD\n").find("no distributed_type") != std::string::npos);
}

TEST_CASE("Lightning: the Trainer as LightningCLI writes it") {
  const TrainingSettings trainer = read(
      "trainer:\n  devices: [0, 1]\n  num_nodes: 2\n  precision: bf16-mixed\n  strategy: "
      "deepspeed_stage_2_offload\n"
      "  accumulate_grad_batches: 4\n  max_epochs: 90\n  gradient_clip_val: 0.5\n  sync_batchnorm: true\n");
  CHECK(trainer.processes == 4);
  CHECK(value_of(trainer, "strategy.name") == "\"zero2\"");
  CHECK(value_of(trainer, "strategy.offload_optimizer") == "\"cpu\"");
  CHECK(value_of(trainer, "strategy.reduce_bucket_size") == "200000000");
  CHECK(value_of(trainer, "model.half_weights") == "true");
  CHECK(value_of(trainer, "loop.hooks") == "\"lightning\"");
  CHECK(value_of(trainer, "run.epochs") == "90");
  CHECK(value_of(trainer, "strategy.sync_batch_norm").empty());  // of ddp
}

TEST_CASE("Lightning: a strategy as a class, and arguments of 1.x") {
  const TrainingSettings ddp = read(
      "trainer:\n  strategy:\n    class_path: pytorch_lightning.strategies.DDPStrategy\n    init_args:\n"
      "      find_unused_parameters: false\n      ddp_comm_hook: fp16_compress_hook\n  gpus: 2\n");
  CHECK(value_of(ddp, "strategy.name") == "\"ddp\"");
  CHECK(value_of(ddp, "strategy.find_unused_parameters") == "false");
  CHECK(value_of(ddp, "strategy.compression") == "\"fp16\"");
  CHECK(value_of(ddp, "strategy.lightning") == "\"1.x\"");
  CHECK(mistake("trainer:\n  precision: 12-mixed\n").find("no precision") != std::string::npos);
}

TEST_CASE("calls in a Python program are read, never run") {
  const TrainingSettings call = read(
      "import torch\n# FSDP(model, sharding_strategy=1)\nprint(\"FSDP(sharding_strategy=3)\")\n"
      "model = FSDP(build(a, b=[1, 2]), sharding_strategy=ShardingStrategy.SHARD_GRAD_OP,\n"
      "  mixed_precision=MixedPrecision(param_dtype=torch.bfloat16), limit_all_gathers=args.limit)\n");
  CHECK(value_of(call, "strategy.sharding") == "\"shard_grad_op\"");
  CHECK(value_of(call, "model.precision") == "\"bf16\"");
  CHECK(with_fate(call, KeyFate::open) == Names{"FSDP.limit_all_gathers"});
  const TrainingSettings trainer =
      read("t = L.Trainer(devices=4, strategy='ddp', max_epochs=1_0, precision=16)\n");
  CHECK(value_of(trainer, "run.gpus") == "[1, 4]");
  CHECK(value_of(trainer, "run.epochs") == "10");
  CHECK(value_of(trainer, "model.precision") == "\"amp_fp16\"");
}

TEST_CASE("Horovod: variables of the environment, and horovodrun's file") {
  const TrainingSettings variables = read(
      "export HOROVOD_FUSION_THRESHOLD=33554432\nHOROVOD_CYCLE_TIME=3.5 # "
      "ms\nHOROVOD_HIERARCHICAL_ALLREDUCE=\"1\"\n"
      "HOROVOD_AUTOTUNE=1\nNCCL_ALGO=Ring\nNCCL_P2P_DISABLE=1\nPATH=/usr/bin\n");
  CHECK(value_of(variables, "strategy.name") == "\"horovod\"");
  CHECK(value_of(variables, "strategy.fusion_threshold") == "\"32 MiB\"");
  CHECK(value_of(variables, "strategy.cycle_time") == "\"3.5 ms\"");
  CHECK(value_of(variables, "strategy.hierarchical_allreduce") == "true");
  CHECK(value_of(variables, "nccl.algorithm") == "\"ring\"");
  CHECK(value_of(variables, "nccl.p2p") == "false");
  CHECK(with_fate(variables, KeyFate::not_modelled) == Names{"HOROVOD_AUTOTUNE"});
  CHECK(value_of(read("params:\n  fusion_threshold_mb: 16\n  cycle_time_ms: 2\n"),
                 "strategy.fusion_threshold") == "\"16 MiB\"");
}

TEST_CASE("Megatron-FSDP: what it shards is another option") {
  const std::string text = "--tensor-model-parallel-size 1 --micro-batch-size 2 --use-megatron-fsdp ";
  const auto strategy = [&](const std::string& more) {
    return value_of(read(text + more + "\n", 16), "strategy.name");
  };
  CHECK(strategy("") == "\"zero0\"");
  CHECK(strategy("--data-parallel-sharding-strategy optim") == "\"zero1\"");
  CHECK(strategy("--data-parallel-sharding-strategy optim_grads") == "\"zero2\"");
  CHECK(strategy("--data-parallel-sharding-strategy optim_grads_params") == "\"zero3\"");
  CHECK_THAT(mistake(text + "--data-parallel-sharding-strategy all\n", 16),
             ContainsSubstring("is not known"));
}

TEST_CASE("torchtitan: copies of the shards are told as read under each of their names") {
  for (const char* section : {"parallelism", "training", "experimental"}) {
    const std::string copies = std::string("[") + section + "]\ndata_parallel_replicate_degree = 2\n";
    const std::string text = std::string("[job]\ndump_folder = \"x\"\n") +
                             (copies.starts_with("[training]") ? copies : copies + "[training]\n") +
                             "local_batch_size = 4\n";
    for (const char* more : {"", "[activation_checkpoint]\nmode = \"selective\"\n"}) {
      INFO(text + more);
      CHECK(with_fate(read(text + more), KeyFate::usual) ==
            Names{std::string(section) + ".data_parallel_replicate_degree"});
    }
  }
}

TEST_CASE("accelerate: degrees of parallelism that nothing reads are named as unknown") {
  const TrainingSettings settings = read(
      "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nparallelism_config:\n"
      "  parallelism_config_dp_replicate_size: 1\n  parallelism_config_dp_shard_size: 4\n"
      "  parallelism_config_tp_size: 1\n  parallelism_config_xp_size: 2\n");
  CHECK(with_fate(settings, KeyFate::unknown) == Names{"parallelism_config.parallelism_config_xp_size"});
}

TEST_CASE("nanotron and torchtitan: batches, degrees, precision") {
  const TrainingSettings tron = read(
      "parallelism:\n  dp: 4\n  tp: 2\n  pp: 1\ntokens:\n  micro_batch_size: 3\n  "
      "batch_accumulation_per_replica: 5\n"
      "optimizer:\n  zero_stage: 0\nmodel:\n  dtype: bfloat16\n");
  CHECK(value_of(tron, "run.gpus") == "[8]");
  CHECK(value_of(tron, "strategy.name").empty());
  CHECK(value_of(tron, "parallel.tensor") == "2");
  CHECK(value_of(tron, "parallel.global_batch") == "60");  // 3 x 5 x 4 replicas
  CHECK(value_of(tron, "parallel.shard") == "\"none\"");
  CHECK(with_fate(tron, KeyFate::not_modelled).empty());
  const TrainingSettings plain = read(
      "parallelism:\n  dp: 4\n  tp: 1\ntokens:\n  micro_batch_size: 3\n  batch_accumulation_per_replica: "
      "5\n");
  CHECK(value_of(plain, "run.gpus") == "[1, 4]");
  CHECK(value_of(plain, "strategy.name") == "\"ddp\"");
  CHECK(value_of(plain, "strategy.accumulation") == "5");
  const TrainingSettings cut = read(
      "[training]\nlocal_batch_size = 4\nseq_len = 8192\n[parallelism]\ndata_parallel_shard_degree = 4\n"
      "tensor_parallel_degree = 2\npipeline_parallel_degree = 2\n[activation_checkpoint]\nmode = "
      "\"selective\"\n");
  CHECK(value_of(cut, "parallel.framework") == "\"torchtitan\"");
  CHECK(value_of(cut, "parallel.pipeline") == "2");
  CHECK(value_of(cut, "parallel.micro_batch") == "1");
  CHECK(value_of(cut, "parallel.global_batch") == "16");
  CHECK(value_of(cut, "parallel.recompute") == "\"selective\"");
  CHECK(value_of(cut, "run.gpus") == "[16]");
  CHECK(value_of(cut, "strategy.name").empty());
  const TrainingSettings titan = read(
      "[training]\nlocal_batch_size = 2\nglobal_batch_size = 64\n[parallelism]\ndata_parallel_shard_degree = "
      "8\n"
      "fsdp_reshard_after_forward = \"never\"\n[optimizer]\nname = \"AdamW\"\nimplementation = "
      "\"foreach\"\n");
  CHECK(value_of(titan, "strategy.name") == "\"fsdp2\"");
  CHECK(value_of(titan, "strategy.sharding") == "\"shard_grad_op\"");
  CHECK(value_of(titan, "strategy.accumulation") == "4");
  CHECK(value_of(titan, "model.precision") == "\"bf16\"");
  CHECK(value_of(titan, "model.optimizer_form") == "\"foreach\"");
}

TEST_CASE("Hugging Face: TrainingArguments with FSDP in words") {
  const TrainingSettings arguments = read(
      "{\"per_device_train_batch_size\": 8, \"fsdp\": \"shard_grad_op auto_wrap\", \"bf16\": true, "
      "\"optim\": "
      "\"adamw_torch_fused\", \"gradient_checkpointing\": true, \"num_train_epochs\": 3}");
  CHECK(value_of(arguments, "strategy.name") == "\"fsdp\"");
  CHECK(value_of(arguments, "strategy.sharding") == "\"shard_grad_op\"");
  CHECK(value_of(arguments, "model.half_weights") == "true");
  const auto searches = [](const std::string& more, int gpus) {
    return value_of(read("{\"per_device_train_batch_size\": 8" + more + "}", gpus),
                    "strategy.find_unused_parameters");
  };
  CHECK(searches("", 4) == "true");  // Trainer's default with DDP
  CHECK(searches("", 1).empty());
  CHECK(searches(", \"gradient_checkpointing\": true", 4).empty());
  CHECK(searches(", \"ddp_find_unused_parameters\": false", 4) == "false");
  CHECK(searches(", \"fsdp\": \"full_shard\"", 4).empty());
  CHECK(value_of(arguments, "model.optimizer_form") == "\"fused\"");
  CHECK(value_of(arguments, "model.recompute") == "true");
  CHECK(with_fate(arguments, KeyFate::not_modelled).empty());
}

TEST_CASE("what is no settings file is refused with the formats that are known") {
  CHECK(mistake("hello: world\n").find("known: ") != std::string::npos);
  CHECK(mistake("").find("no training settings") != std::string::npos);
  CHECK(mistake(std::string("a\0b", 3)).find("no text") != std::string::npos);
  CHECK(mistake(std::string(kLargestSettings + 1, ' ')).find("at most") != std::string::npos);
}

TEST_CASE("broken JSON is refused with its place") {
  CHECK(mistake("{\"train_batch_size\": 4,\n \"fp16\" {}}").find("file:2:9") != std::string::npos);
  CHECK(mistake("{\"train_batch_size\": 4, \"train_batch_size\": 8}").find("stands twice") !=
        std::string::npos);
  CHECK(mistake("{\"train_batch_size\": \"4").find("no end") != std::string::npos);
  CHECK(mistake("{\"zero_optimization\": {\"stage\": 2}").find("ends before }") != std::string::npos);
  CHECK(mistake("{\"train_batch_size\": 4} x").find("behind the end") != std::string::npos);
}

TEST_CASE("nesting and bombs end with a message") {
  CHECK(mistake("{\"fp16\":" + std::string(100'000, '[')).find("deeper than") != std::string::npos);
  std::string bomb = "distributed_type: FSDP\na: &a [1,1,1,1,1,1,1,1,1,1]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += (i > 0 ? "," : "") + ("*" + before);
    bomb += "]\n";
  }
  CHECK(mistake(bomb).find("values") != std::string::npos);
  CHECK(mistake("x = FSDP(a=" + std::string(200'000, '(')).empty());
  std::string wide = "{\"train_batch_size\": 4";
  for (int i = 0; i < 6000; ++i) wide += ",\"k" + std::to_string(i) + "\": 1";
  CHECK(mistake(wide + "}").find("more than 5000 keys") != std::string::npos);
}

TEST_CASE("every mistake of a file is told at once") {
  const std::string all =
      mistake(R"({"train_micro_batch_size_per_gpu": -1, "gradient_accumulation_steps": "two",
    "zero_optimization": {"stage": 7, "overlap_comm": "maybe"}, "fp16": {"enabled": true}, "bf16": {"enabled": true}})");
  for (const char* word : {"train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "stage",
                           "overlap_comm", "both enabled"})
    CHECK(all.find(word) != std::string::npos);
}

}  // namespace settings_test
