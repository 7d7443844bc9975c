// Recipes of large models: NeMo, Megatron-Bridge, Primus, GPT-NeoX, LLM-Foundry, OLMo, MaxText, torchtitan
// and nanotron say degrees, which become the table parallel.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace settings_recipes_test {

using namespace foretrain;

namespace {

TrainingSettings read(const std::string& text, int gpus = 0) {
  test::use_source_catalogs();
  return read_settings({"file", text}, {gpus, nullptr, nullptr});
}

using Keys = std::vector<std::pair<std::string, std::string>>;

void check(const TrainingSettings& settings, const std::string& format, const Keys& keys) {
  CHECK(settings.format == format);
  for (const auto& [key, value] : keys) {
    INFO(key);
    CHECK(value_of(settings, key) == value);
  }
}

std::vector<std::string> with_fate(const TrainingSettings& settings, KeyFate fate) {
  std::vector<std::string> out;
  for (const ReadKey& key : settings.keys)
    if (key.fate == fate) out.push_back(key.path);
  return out;
}

}  // namespace

TEST_CASE("NeMo YAML: degrees below model, GPUs below trainer") {
  const TrainingSettings settings = read(
      "trainer:\n  devices: 8\n  num_nodes: 4\n  precision: bf16-mixed\n  max_steps: 100\n"
      "model:\n  micro_batch_size: 2\n  global_batch_size: 128\n  tensor_model_parallel_size: 4\n"
      "  pipeline_model_parallel_size: 2\n  virtual_pipeline_model_parallel_size: 4\n  encoder_seq_length: "
      "4096\n"
      "  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 11008\n  num_attention_heads: 32\n"
      "  activation: fast-swiglu\n  normalization: rmsnorm\n  sequence_parallel: true\n"
      "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: block\n"
      "  activations_checkpoint_num_layers: 2\n  optim:\n    name: distributed_fused_adam\n    lr: 1e-4\n");
  check(settings, "NeMo YAML",
        {{"parallel.tensor", "4"},
         {"parallel.pipeline", "2"},
         {"parallel.virtual_stages", "4"},
         {"parallel.micro_batch", "2"},
         {"parallel.global_batch", "128"},
         {"parallel.sequence", "4096"},
         {"parallel.recompute", "\"full\""},
         {"parallel.recomputed_layers", "2"},
         {"parallel.shard", "\"optimizer\""},
         {"parallel.framework", "\"megatron\""},
         {"parallel.sequence_parallel", "true"},
         {"model.precision", "\"bf16\""},
         {"run.gpus", "[32]"}});
  CHECK(settings.processes == 32);
  CHECK(value_of(settings, "model.network").find("11008") != std::string::npos);
}

TEST_CASE("Megatron-Bridge: a YAML of its ConfigContainer") {
  const TrainingSettings settings = read(
      "model:\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 4\n  "
      "expert_model_parallel_size: 8\n"
      "  num_layers: 48\n  hidden_size: 2048\n  num_attention_heads: 32\n  num_query_groups: 4\n"
      "  num_moe_experts: 128\n  moe_router_topk: 8\n  moe_ffn_hidden_size: 768\n  gated_linear_unit: true\n"
      "  moe_token_dispatcher_type: flex\n  moe_router_force_load_balancing: true\n"
      "  recompute_granularity: selective\n  recompute_modules: [moe_act, layernorm]\n"
      "train:\n  micro_batch_size: 1\n  global_batch_size: 512\n  train_iters: 50\n"
      "ddp:\n  overlap_grad_reduce: true\n  grad_reduce_in_fp32: false\n"
      "mixed_precision: bf16_with_mxfp8_mixed\n");
  check(settings, "Megatron-Bridge",
        {{"parallel.tensor", "2"},
         {"parallel.pipeline", "4"},
         {"parallel.expert", "8"},
         {"parallel.dispatch", "\"deep_ep\""},
         {"parallel.imbalance", "1.0"},
         {"parallel.recompute", "\"selective\""},
         {"parallel.recompute_modules", "\"moe_act, layernorm\""},
         {"parallel.gradient_bytes", "2"},
         {"parallel.precision", "\"fp8\""},
         {"parallel.shard", "\"optimizer\""},
         {"parallel.overlap_gradients", "true"}});
}

TEST_CASE("Megatron-Bridge and NeMo 2: a recipe in Python is read, not run") {
  const TrainingSettings settings = read(
      "from megatron.bridge import ConfigContainer\n\ndef pretrain_config():\n    cfg = base()\n"
      "    cfg.model.tensor_model_parallel_size = 8\n    cfg.model.pipeline_model_parallel_size = 2\n"
      "    cfg.model.seq_length = 8192\n    cfg.train.micro_batch_size = 1\n    cfg.train.global_batch_size "
      "= 64\n"
      "    cfg.ddp.use_distributed_optimizer = True\n    return cfg\n");
  check(settings, "Megatron-Bridge",
        {{"parallel.tensor", "8"},
         {"parallel.pipeline", "2"},
         {"parallel.sequence", "8192"},
         {"parallel.micro_batch", "1"},
         {"parallel.global_batch", "64"},
         {"parallel.shard", "\"optimizer\""}});
  const TrainingSettings nemo = read(
      "from nemo.collections import llm\nimport nemo_run as run\nfrom nemo import lightning as nl\n"
      "strategy = run.Config(\n    nl.MegatronStrategy,\n    tensor_model_parallel_size=4,\n"
      "    pipeline_model_parallel_size=2,\n    sequence_parallel=True,\n)\n"
      "data = run.Config(MockDataModule, seq_length=4096, global_batch_size=32, micro_batch_size=1)\n");
  check(nemo, "Megatron-LM arguments",
        {{"parallel.tensor", "4"}, {"parallel.pipeline", "2"}, {"parallel.global_batch", "32"}});
}

TEST_CASE("what two recipes of one Python text say differently is open") {
  const TrainingSettings settings = read(
      "def small(cfg):\n    cfg.model.tensor_model_parallel_size = 1\n    cfg.train.micro_batch_size = 1\n"
      "def large(cfg):\n    cfg.model.tensor_model_parallel_size = 8\n    cfg.train.micro_batch_size = 1\n"
      "    cfg.model.pipeline_model_parallel_size = 4\n");
  CHECK(value_of(settings, "parallel.tensor").empty());
  CHECK(value_of(settings, "parallel.pipeline") == "4");
  const auto open = with_fate(settings, KeyFate::open);
  CHECK(std::ranges::count(open, "model.tensor_model_parallel_size") == 1);
}

TEST_CASE("Primus: Megatron-LM's arguments below overrides, with defaults of variables") {
  const TrainingSettings settings = read(
      "work_group: amd\nexp_name: a\nmodules:\n  pre_trainer:\n    framework: megatron\n"
      "    config: pre_trainer.yaml\n    model: llama3.1_8B.yaml\n    overrides:\n"
      "      tensor_model_parallel_size: ${PRIMUS_TP:2}\n      pipeline_model_parallel_size: 1\n"
      "      micro_batch_size: 4\n      global_batch_size: 128\n      seq_length: 8192\n"
      "      use_distributed_optimizer: true\n      fp8: hybrid\n");
  check(settings, "Primus YAML",
        {{"parallel.tensor", "2"},
         {"parallel.micro_batch", "4"},
         {"parallel.sequence", "8192"},
         {"parallel.shard", "\"optimizer\""},
         {"parallel.precision", "\"fp8\""},
         {"model.name", "\"llama3_8b\""}});
}

TEST_CASE("GPT-NeoX: degrees, ZeRO's stage and a network, with dashes or without") {
  const TrainingSettings settings = read(
      "{\n  # parallelism\n  \"pipe-parallel-size\": 2,\n  \"model-parallel-size\": 4,\n  \"num-layers\": "
      "44,\n"
      "  \"hidden-size\": 6144,\n  \"num-attention-heads\": 64,\n  \"seq-length\": 2048,\n"
      "  \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 32,\n"
      "  \"zero_optimization\": {\"stage\": 1, \"reduce_bucket_size\": 5e8},\n  \"fp16\": {\"enabled\": "
      "true},\n"
      "  \"checkpoint-activations\": true\n}\n",
      96);
  check(settings, "GPT-NeoX YAML",
        {{"parallel.pipeline", "2"},
         {"parallel.tensor", "4"},
         {"parallel.shard", "\"optimizer\""},
         {"parallel.framework", "\"megatron-deepspeed\""},
         {"parallel.recompute", "\"full\""},
         {"parallel.global_batch", "1536"},  // 4 x 32 micro-steps x 12 replicas
         {"model.precision", "\"amp_fp16\""}});
}

TEST_CASE("LLM-Foundry and OLMo: sharding, micro-batch and the network") {
  const TrainingSettings foundry = read(
      "max_seq_len: 2048\nmodel:\n  name: mpt_causal_lm\n  d_model: 4096\n  n_heads: 32\n  n_layers: 32\n"
      "  expansion_ratio: 4\n  vocab_size: 50368\nglobal_train_batch_size: 256\n"
      "device_train_microbatch_size: 8\nprecision: amp_bf16\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n"
      "  mixed_precision: PURE\n  activation_checkpointing: true\n");
  check(foundry, "LLM-Foundry and OLMo YAML",
        {{"parallel.framework", "\"llm-foundry\""},
         {"parallel.shard", "\"parameters\""},
         {"parallel.micro_batch", "8"},
         {"parallel.global_batch", "256"},
         {"parallel.sequence", "2048"},
         {"parallel.gradient_bytes", "2"},
         {"parallel.recompute", "\"full\""}});
  CHECK(value_of(foundry, "model.network").find("50368") != std::string::npos);
  const TrainingSettings olmo = read(
      "model:\n  d_model: 4096\n  n_heads: 32\n  n_layers: 32\n  mlp_hidden_size: 22016\n  vocab_size: "
      "50280\n"
      "  max_sequence_length: 4096\n  activation_type: swiglu\nglobal_train_batch_size: 1024\n"
      "device_train_microbatch_size: 2\nprecision: amp_bf16\nactivation_checkpointing: whole_layer\n"
      "fsdp:\n  wrapping_strategy: by_block\n  precision: mixed\n");
  check(olmo, "LLM-Foundry and OLMo YAML",
        {{"parallel.framework", "\"pytorch\""},
         {"parallel.shard", "\"parameters\""},
         {"parallel.sequence", "4096"}});
  // OLMo counts gate and up together.
  CHECK(value_of(olmo, "model.network").find("out = 11008") != std::string::npos);
  CHECK(value_of(olmo, "model.network").find("out = 22016") == std::string::npos);
  CHECK(value_of(read("model:\n  pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf\n"
                      "global_train_batch_size: 8\ndevice_train_microbatch_size: 1\n"),
                 "model.name") == "\"llama2_7b\"");
}

TEST_CASE("MaxText: axes inside and between slices are multiplied") {
  const TrainingSettings settings = read(
      "model_name: llama3-70b\nper_device_batch_size: 2\nmax_target_length: 8192\nremat_policy: "
      "save_qkv_proj\n"
      "ici_tensor_parallelism: 4\ndcn_tensor_parallelism: 2\nici_fsdp_parallelism: -1\nquantization: fp8\n");
  check(settings, "MaxText",
        {{"parallel.framework", "\"maxtext\""},
         {"parallel.tensor", "8"},
         {"parallel.shard", "\"parameters\""},
         {"parallel.recompute", "\"save_qkv\""},
         {"parallel.precision", "\"fp8\""},
         {"parallel.sequence", "8192"},
         {"parallel.micro_batch", "16"},
         {"model.name", "\"llama3_70b\""}});
  const std::string batch = "model_name: llama3.1-8b\nmax_target_length: 8192\nper_device_batch_size: ";
  const TrainingSettings half = read(batch + "0.5\nici_tensor_parallelism: 4\n");
  CHECK(value_of(half, "parallel.micro_batch") == "2");
  const TrainingSettings apart = read(batch +
                                      "1\ndcn_pipeline_parallelism: 4\nici_context_parallelism: 2\n"
                                      "ici_sequence_parallelism: 2\n");
  check(apart, "MaxText",
        {{"parallel.pipeline", "4"}, {"parallel.context", "4"}, {"parallel.micro_batch", "16"}});
}

TEST_CASE("names of networks are whole names") {
  const auto model = [](const std::string& family, const std::string& flavor) {
    return value_of(
        read("[model]\nname = \"" + family + "\"\nflavor = \"" + flavor +
             "\"\n[training]\nlocal_batch_size = 1\n[parallelism]\ndata_parallel_shard_degree = -1\n"),
        "model.name");
  };
  CHECK(model("deepseek_v3", "671B") == "\"deepseek_v3\"");
  CHECK(model("deepseek_v3", "16B").empty());
  CHECK(model("llama3", "debugmodel").empty());
}

TEST_CASE("precisions and optimizers that a layout does not have are said, and fp8 in words is fp8") {
  const std::string begin = "trainer:\n  devices: -1\n  num_nodes: 2\n  precision: ";
  const std::string end = "\nmodel:\n  micro_batch_size: 1\n  tensor_model_parallel_size: 2\n";
  const TrainingSettings wide = read(begin + "32" + end + "  optim:\n    name: sgd\n");
  CHECK(value_of(wide, "model.precision").empty());
  CHECK(value_of(wide, "model.optimizer") == "\"sgd\"");
  CHECK(std::ranges::count(with_fate(wide, KeyFate::open), "trainer.devices") == 1);
  CHECK(value_of(read(begin + "bf16-mixed" + end + "  fp8: hybrid\n"), "parallel.precision") == "\"fp8\"");
  CHECK(value_of(read("--num-layers 2 --hidden-size 64 --num-attention-heads 2 --micro-batch-size 1\n"
                      "--tensor-model-parallel-size 2 --fp8-format none\n"),
                 "parallel.precision")
            .empty());
}

TEST_CASE("recipes of odd sizes and hostile texts end") {
  CHECK_NOTHROW(
      read("--num-layers 2 --hidden-size 16 --num-attention-heads 1 --multi-latent-attention --swiglu "
           "--micro-batch-size 1 --moe-layer-freq [0]*99999999999999\n"));
  std::string members = "cfg.tensor_model_parallel_size = 2\ncfg";
  for (int i = 0; i < 100'000; ++i) members += ".a";
  CHECK_NOTHROW(read("import torch\n" + members + " = 1\nm = DDP(m)\n"));
  std::string nested = "import torch\nm = DDP(m)\n";
  for (int i = 0; i < 3'000; ++i) nested += "tok(";
  nested += std::string(600'000, 'x');
  CHECK_NOTHROW(read(nested));
  std::string imports = "import torch\nm = DDP(m)\n";
  for (int i = 0; i < 20'000; ++i) imports += "from torchvision.models import (\n";
  CHECK_NOTHROW(read(imports));
  std::string many = "import torch\nm = DDP(m)\nc = Config(tensor_model_parallel_size=2";
  for (int i = 0; i < 60'000; ++i) many += ",a" + std::to_string(i) + "=1";
  CHECK_NOTHROW(read(many + ")\n"));
  CHECK_NOTHROW(read("import torch\n" + std::string(300'000, ' ') + "a" + std::string(300'000, ';') +
                     "\nm = DDP(m)\n"));
}

TEST_CASE("the words of a recipe in a comment make no recipe of a program") {
  const TrainingSettings program =
      read("import torch\n# we do not set tensor_parallel_degree here\nm = FSDP(net, sharding_strategy=1)\n");
  CHECK(program.format == "calls in Python");
}

TEST_CASE("torchtitan: the network by its name, and every n-th layer") {
  const std::string text =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\nseq_len = 8192\n"
      "[parallelism]\ndata_parallel_shard_degree = -1\n[activation_checkpoint]\nmode = \"selective\"\n"
      "selective_ac_option = ";
  check(read(text + "\"op\"\n"), "torchtitan TOML",
        {{"parallel.recompute", "\"selective\""},
         {"parallel.shard", "\"parameters\""},
         {"model.name", "\"llama3_8b\""}});
  check(read(text + "\"2\"\n"), "torchtitan TOML",
        {{"parallel.recompute", "\"full\""}, {"parallel.recomputed_share", "0.5"}});
  const TrainingSettings python = read(
      "from torchtitan.trainer import Trainer\n\ndef llama3_70b() -> Trainer.Config:\n    return "
      "Trainer.Config(\n"
      "        training=TrainingConfig(local_batch_size=8, seq_len=8192),\n"
      "        parallelism=ParallelismConfig(tensor_parallel_degree=8),\n"
      "        activation_checkpoint=ActivationCheckpointConfig(mode=\"full\"),\n    )\n");
  check(python, "torchtitan TOML",
        {{"parallel.tensor", "8"}, {"parallel.micro_batch", "8"}, {"parallel.recompute", "\"full\""}});
}

TEST_CASE("nanotron: the network of its model_config") {
  const TrainingSettings settings = read(
      "general:\n  run: a\nmodel:\n  dtype: bfloat16\n  model_config:\n    hidden_size: 2048\n"
      "    num_hidden_layers: 16\n    num_attention_heads: 32\n    num_key_value_heads: 8\n"
      "    intermediate_size: 8192\n    vocab_size: 49152\n    tie_word_embeddings: true\n"
      "parallelism:\n  dp: 4\n  tp: 2\n  pp: 2\ntokens:\n  micro_batch_size: 2\n  sequence_length: 4096\n"
      "  batch_accumulation_per_replica: 8\n");
  check(settings, "nanotron YAML",
        {{"parallel.tensor", "2"}, {"parallel.pipeline", "2"}, {"parallel.global_batch", "64"}});
  CHECK(value_of(settings, "model.network").find("49152") != std::string::npos);
}

TEST_CASE("Megatron-LM: DeepSeek's attention and modules of recomputation") {
  const TrainingSettings settings = read(
      "--num-layers 4 --hidden-size 7168 --num-attention-heads 128 --ffn-hidden-size 18432 --swiglu\n"
      "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --v-head-dim 128\n"
      "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --vocab-size 129280\n"
      "--expert-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64 --seq-length 4096\n"
      "--recompute-granularity selective --recompute-modules mla_up_proj --bf16 --exp-avg-dtype bf16\n");
  check(settings, "Megatron-LM arguments",
        {{"parallel.expert", "8"},
         {"parallel.recompute_modules", "\"mla_up_proj\""},
         {"parallel.moment_bytes", "2"}});
  for (const char* size : {"129280", "1536", "512"}) {
    INFO(size);
    CHECK(value_of(settings, "model.network").find(size) != std::string::npos);
  }
}

TEST_CASE("modules of recomputation that nobody knows are said") {
  const TrainingSettings settings = read(
      "model:\n  tensor_model_parallel_size: 2\n  recompute_modules: [mixer]\ntrain:\n  micro_batch_size: "
      "1\n");
  const auto left = with_fate(settings, KeyFate::not_modelled);
  CHECK(std::ranges::count(left, "model.recompute_modules") == 1);
  CHECK(
      value_of(
          read(
              "model:\n  tensor_model_parallel_size: 2\n  recompute_modules: []\ntrain:\n  micro_batch_size: "
              "1\n"),
          "parallel.recompute") == "\"none\"");
}

}  // namespace settings_recipes_test
