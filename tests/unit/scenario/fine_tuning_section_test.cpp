// [model] and [model.adapters]: fine-tuning as a scenario asks for it, and its mistakes.
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace fine_tuning_section_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

Scenario read(const std::string& model) {
  return read_scenario({"mine.toml", "[model]\nname = \"gpt2\"\n" + model + "[cluster]\nname = \"puhti\"\n"},
                       {});
}

std::string mistake(const std::string& model) {
  try {
    read(model);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a table of adapters trains two thin products beside each target") {
  const Scenario scenario = read("[model.adapters]\nrank = 16\ntargets = \"c_attn\"\n");
  CHECK(scenario.model.tuning.adapter == AdapterKind::lora);
  CHECK(scenario.workload.model->parameter_elements() == 12 * 16 * (768 + 3 * 768));
  CHECK(scenario.workload.model->frozen_elements() == 124'439'808);
}

TEST_CASE("weights of 16 bits and fewer are multiplied in 16 bits") {
  CHECK(read("weights = \"bf16\"\n").workload.precision == Precision::bf16);
  CHECK(read("weights = \"fp16\"\n").workload.precision == Precision::amp_fp16);
  CHECK(read("weights = \"nf4\"\n[model.adapters]\n").workload.precision == Precision::bf16);
  CHECK_THAT(mistake("weights = \"bf16\"\nprecision = \"fp32\"\n"),
             ContainsSubstring("weights of bf16 are multiplied in 16 bits, not in fp32"));
  CHECK_THAT(mistake("weights = \"bf16\"\nprecision = \"bf16\"\nhalf_weights = true\n"),
             ContainsSubstring("model.weights and model.half_weights are one or the other"));
}

TEST_CASE("a sample's length is a key, where the network has one") {
  const Scenario scenario = read("sequence_length = 256\n");
  CHECK(scenario.model.input == std::vector<std::int64_t>{256});
  CHECK_THAT(mistake("sequence_length = 4096\n"),
             ContainsSubstring("mine.toml:3:19: error: position has 1024 entries"));
  CHECK_THAT(mistake("sequence_length = 0\n"), ContainsSubstring("model.sequence_length must be"));
}

TEST_CASE("weights are upcast beside narrower ones, and what is offloaded must be kept") {
  const Scenario upcast = read("weights = \"nf4\"\nupcast = \"all\"\n[model.adapters]\n");
  CHECK(upcast.model.tuning.upcast == Upcast::all);
  CHECK_THAT(mistake("upcast = \"all\"\n"), ContainsSubstring("mine.toml:3:10: error: model.upcast makes"));
  CHECK_THAT(mistake("weights = \"nf4\"\nupcast = \"most\"\n[model.adapters]\n"),
             ContainsSubstring("model.upcast"));
  const Scenario moved = read("recompute = true\noffload_activations = \"checkpoints\"\n");
  CHECK(moved.workload.model->offloaded.tensors.size() == 12);
  CHECK_THAT(mistake("offload_activations = \"checkpoints\"\n"),
             ContainsSubstring("the inputs of recomputed blocks are offloaded, and no block is recomputed"));
  CHECK_THAT(mistake("offload_activations = \"everything\"\n"),
             ContainsSubstring("model.offload_activations"));
  CHECK_THAT(mistake("offload_activations = \"saved_tensors\"\n[parallel]\ntensor = 2\n"),
             ContainsSubstring("model.offload_activations is not for [parallel]"));
  CHECK_THAT(mistake("offload_activations = \"saved_tensors\"\n[strategy]\nname = \"data_parallel\"\n"),
             ContainsSubstring("data_parallel drives several GPUs in one process"));
}

TEST_CASE("virtual tokens have keys of their own") {
  const Scenario prefix = read("[model.adapters]\nkind = \"prefix\"\nvirtual_tokens = 30\n");
  CHECK(prefix.workload.model->parameter_elements() == 30 * 12 * 2 * 768);
  CHECK_THAT(mistake("[model.adapters]\nkind = \"prompt\"\nrank = 8\n"),
             ContainsSubstring("prompt adds no adapters to layers, and has no rank"));
  CHECK_THAT(mistake("[model.adapters]\nvirtual_tokens = 8\n"),
             ContainsSubstring("lora has no virtual_tokens"));
  CHECK_THAT(mistake("sequence_length = 512\n[model.adapters]\nkind = \"prompt\"\nencoder_width = 8\n"),
             ContainsSubstring("prompt has no encoder_width"));
  CHECK_THAT(mistake("[model.adapters]\nkind = \"prefix\"\nvirtual_tokens = 0\n"),
             ContainsSubstring("model.adapters.virtual_tokens must be"));
}

TEST_CASE("degrees of a large model take no adapters") {
  CHECK_THAT(mistake("[model.adapters]\n[parallel]\ntensor = 2\n"),
             ContainsSubstring("are not modelled with [parallel]"));
}

TEST_CASE("mistakes of fine-tuning stand at their keys") {
  CHECK_THAT(mistake("[model.adapters]\ntargets = [\"to_qkv\"]\n"),
             ContainsSubstring("no layer of gpt2 is called \"to_qkv\""));
  CHECK_THAT(mistake("[model.adapters]\nrank = 1024\n"),
             ContainsSubstring("an adapter of rank 1024 is wider than"));
  CHECK_THAT(mistake("[model.adapters]\nrank = 0\n"), ContainsSubstring("model.adapters.rank must be"));
  CHECK_THAT(mistake("[model.adapters]\nalpha = 16\n"), ContainsSubstring("model.adapters"));
  CHECK_THAT(mistake("trainable = \"nothing_like_it\"\n"),
             ContainsSubstring("no layer of gpt2 is called \"nothing_like_it\""));
}

}  // namespace fine_tuning_section_test
