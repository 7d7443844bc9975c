// Configs of transformers against the published numbers of parameters. Each number is also the sum that the
// sizes of the config give by hand; the first column says where it was published.
#include <cstdlib>
#include <stdexcept>

#include "sim/scenario/toml/reader.hpp"
#include "tests/unit/import/models/imported.hpp"

namespace network_config_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

struct Published {
  const char* source;
  std::int64_t parameters;
  std::string config;
};

const std::vector<Published>& published() {
  static const std::vector<Published> rows{
      {"BERT's 109,482,240 less its pooler (768 * 769), with transform, norm and bias of the head",
       109'514'298,
       R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 768, )"
       R"("num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, )"
       R"("vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, )"
       R"("hidden_act": "gelu"})"},
      {"bert-base-uncased as BertModel.num_parameters() says; the paper says 110M", 109'482'240,
       R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768, )"
       R"("num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, )"
       R"("vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, )"
       R"("hidden_act": "gelu"})"},
      {"roberta-base with its tied head: 124,645,632 less pooler, with dense, norm and bias", 124'697'433,
       R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "hidden_size": 768, )"
       R"("num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, )"
       R"("vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1, )"
       R"("hidden_act": "gelu"})"},
      {"fairseq and transformers: 125M, 124,645,632 with the pooler", 124'645'632,
       R"({"model_type": "roberta", "architectures": ["RobertaModel"], "hidden_size": 768, )"
       R"("num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, )"
       R"("vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1, )"
       R"("hidden_act": "gelu"})"},
      {"gpt2 on the hub: 124,439,808", 124'439'808,
       R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, )"
       R"("n_layer": 12, "n_head": 12, "n_ctx": 1024, "n_positions": 1024, "vocab_size": 50257, )"
       R"("activation_function": "gelu_new"})"},
      {"GPT-NeoX-20B, arXiv:2204.06745, section 2: 20,554,567,680", 20'554'567'680,
       R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], )"
       R"("hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64, )"
       R"("intermediate_size": 24576, "vocab_size": 50432, "max_position_embeddings": 2048, )"
       R"("rotary_pct": 0.25, "hidden_act": "gelu_fast", "use_parallel_residual": true, )"
       R"("tie_word_embeddings": false})"},
      {"pythia-70m, arXiv:2304.01373, table 1: 18,915,328 besides two embeddings of 50,304 x 512", 70'426'624,
       R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 512, )"
       R"("num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048, )"
       R"("vocab_size": 50304, "max_position_embeddings": 2048, "rotary_pct": 0.25, )"
       R"("hidden_act": "gelu", "tie_word_embeddings": false})"},
      {"the hub's safetensors of Llama-2-7b: 6,738,415,616", 6'738'415'616,
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, )"
       R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, )"
       R"("intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 4096, )"
       R"("hidden_act": "silu", "tie_word_embeddings": false})"},
      {"Meta-Llama-3-8B: 8,030,261,248", 8'030'261'248,
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, )"
       R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, )"
       R"("intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, )"
       R"("hidden_act": "silu", "tie_word_embeddings": false})"},
      {"Mistral-7B-v0.1: 7,241,732,096", 7'241'732'096,
       R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_size": 4096, )"
       R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, )"
       R"("intermediate_size": 14336, "vocab_size": 32000, "max_position_embeddings": 32768, )"
       R"("hidden_act": "silu", "tie_word_embeddings": false, "sliding_window": 4096})"},
      {"Mixtral-8x7B-v0.1: 46,702,792,704", 46'702'792'704,
       R"({"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 4096, )"
       R"("num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, )"
       R"("intermediate_size": 14336, "vocab_size": 32000, "max_position_embeddings": 32768, )"
       R"("hidden_act": "silu", "num_local_experts": 8, "num_experts_per_tok": 2, )"
       R"("tie_word_embeddings": false})"},
      {"Qwen2-7B: 7,615,616,512", 7'615'616'512,
       R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": 3584, )"
       R"("num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, )"
       R"("intermediate_size": 18944, "vocab_size": 152064, "max_position_embeddings": 131072, )"
       R"("hidden_act": "silu", "tie_word_embeddings": false})"},
      {"Qwen3-8B: 8,190,735,360", 8'190'735'360,
       R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 4096, )"
       R"("num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, )"
       R"("head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936, )"
       R"("max_position_embeddings": 40960, "hidden_act": "silu", "attention_bias": false, )"
       R"("tie_word_embeddings": false})"},
      {"gemma-2b: 2,506,172,416", 2'506'172'416,
       R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "hidden_size": 2048, )"
       R"("num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, )"
       R"("head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000, )"
       R"("max_position_embeddings": 8192, "hidden_act": "gelu"})"},
      {"gemma-7b: 8,537,680,896", 8'537'680'896,
       R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "hidden_size": 3072, )"
       R"("num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16, )"
       R"("head_dim": 256, "intermediate_size": 24576, "vocab_size": 256000, )"
       R"("max_position_embeddings": 8192, "hidden_act": "gelu"})"},
      {"t5-base, 220M in the paper: 222,903,552", 222'903'552,
       R"({"model_type": "t5", "architectures": ["T5WithLMHeadModel"], "d_model": 768, )"
       R"("num_layers": 12, "num_heads": 12, "d_kv": 64, "d_ff": 3072, "vocab_size": 32128, )"
       R"("n_positions": 512, "relative_attention_num_buckets": 32})"},
      {"t5-small, 60M: 60,506,624", 60'506'624,
       R"({"model_type": "t5", "architectures": ["T5WithLMHeadModel"], "d_model": 512, )"
       R"("num_layers": 6, "num_heads": 8, "d_kv": 64, "d_ff": 2048, "vocab_size": 32128, )"
       R"("n_positions": 512, "relative_attention_num_buckets": 32})"},
      {"vit-base-patch16-224, the same as torchvision's vit_b_16", 86'567'656,
       R"({"model_type": "vit", "architectures": ["ViTForImageClassification"], )"
       R"("hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, )"
       R"("intermediate_size": 3072, "image_size": 224, "patch_size": 16, "num_channels": 3, )"
       R"("num_labels": 1000})"},
      {"swin-tiny-patch4-window7-224, the same as torchvision's swin_t", 28'288'354,
       R"({"model_type": "swin", "architectures": ["SwinForImageClassification"], )"
       R"("embed_dim": 96, "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "window_size": 7, )"
       R"("mlp_ratio": 4.0, "image_size": 224, "patch_size": 4, "num_channels": 3, )"
       R"("num_labels": 1000, "drop_path_rate": 0.1})"},
      {"convnext-tiny-224, the same as torchvision's convnext_tiny", 28'589'128,
       R"({"model_type": "convnext", "architectures": ["ConvNextForImageClassification"], )"
       R"("depths": [3, 3, 9, 3], "hidden_sizes": [96, 192, 384, 768], "image_size": 224, )"
       R"("patch_size": 4, "num_channels": 3, "num_labels": 1000})"},
      {"whisper-small: 241,734,912, of which 1500 * 768 positions of the encoder are not trained",
       241'734'912 - 1500 * 768,
       R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], )"
       R"("d_model": 768, "encoder_layers": 12, "decoder_layers": 12, )"
       R"("encoder_attention_heads": 12, "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, )"
       R"("decoder_ffn_dim": 3072, "vocab_size": 51865, "num_mel_bins": 80, )"
       R"("max_source_positions": 1500, "max_target_positions": 448, )"
       R"("activation_function": "gelu"})"},
      {"whisper-base: 72,593,920, of which 1500 * 512 are not trained", 72'593'920 - 1500 * 512,
       R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], )"
       R"("d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8, )"
       R"("decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, )"
       R"("vocab_size": 51865, "num_mel_bins": 80, "max_source_positions": 1500, )"
       R"("max_target_positions": 448, "activation_function": "gelu"})"}};
  return rows;
}

const std::string& config_of(std::string_view source) {
  for (const Published& row : published())
    if (std::string_view(row.source).starts_with(source)) return row.config;
  throw std::out_of_range(std::string(source));
}

std::string without(std::string config, const std::string& key) {
  const std::size_t at = config.find("\"" + key + "\""), end = config.find(", ", at);
  return config.erase(at, end + 2 - at);
}

}  // namespace

TEST_CASE("networks of configs have as many parameters as was published") {
  for (const Published& row : published()) {
    INFO(row.source);
    CHECK(network_of(row.config).parameter_elements() == row.parameters);
  }
}

TEST_CASE("networks that are in the catalog, too, have its work") {
  const auto products = [](const ExpandedModel& model) { return model.forward_gemm_flops().per_sample; };
  const SourceText source = read_text_file(FORETRAIN_SOURCE_DIR "/models/gpt2.toml");
  Diagnostics diagnostics(source);
  const ExpandedModel catalog = read_model_file(source, diagnostics).expanded;
  const ExpandedModel config = network_of(config_of("gpt2"));
  CHECK(config.forward_flops().per_sample == catalog.forward_flops().per_sample);
  CHECK(config.backward_flops().per_sample == catalog.backward_flops().per_sample);
  CHECK(config.saved_bytes.per_sample == catalog.saved_bytes.per_sample);
  const SourceText swin = read_text_file(FORETRAIN_SOURCE_DIR "/models/swin_t.toml");
  Diagnostics faults(swin);
  // torchvision's trace adds biases of linear layers apart, outside of the products.
  CHECK(products(network_of(config_of("swin-tiny"))) ==
        Approx(products(read_model_file(swin, faults).expanded)).epsilon(0.001));
}

TEST_CASE("the forward products of a Llama are those of its matrices") {
  // Per token: 2 (4 h^2 + 3 h f) a layer and 2 h v for the head; causal attention by one kernel, 2 s h a
  // token.
  const double h = 4096, f = 11008, layers = 32, v = 32000, s = 512;
  const ExpandedModel model = network_of(config_of("the hub's safetensors of Llama"), {512, {}});
  CHECK(model.forward_gemm_flops().per_sample ==
        s * (layers * (2 * (4 * h * h + 3 * h * f) + 2 * s * h) + 2 * h * v));
}

TEST_CASE("a mixture runs as many experts for a token as its router chooses") {
  const std::string one = config_of("Mixtral");
  std::string two = one;
  two.replace(two.find("\"num_experts_per_tok\": 2"), 24, "\"num_experts_per_tok\": 1");
  const auto gemm = [](const ExpandedModel& model) { return model.forward_gemm_flops().per_sample; };
  const double expert = 32.0 * 64 * 2 * 3 * 4096 * 14336;
  CHECK(gemm(network_of(one, {64, {}})) - gemm(network_of(two, {64, {}})) == expert);
}

TEST_CASE("the head follows from the architecture of the config") {
  std::string config = config_of("bert-base-uncased");
  const auto with_head = [&](const std::string& head) {
    std::string out = config;
    return network_of(out.replace(out.find("BertModel"), 9, head)).parameter_elements();
  };
  CHECK(with_head("BertForPreTraining") == 110'106'428);
  CHECK(with_head("BertForSequenceClassification") == 109'482'240 + 2 * 769);
  CHECK(with_head("BertForQuestionAnswering") == 109'482'240 - 768 * 769 + 2 * 769);
  CHECK(remarks(imported(config), "no head"));
}

TEST_CASE("every missing key of a config is named at once") {
  const std::string said =
      mistakes_of(without(without(config_of("the hub's safetensors of Llama"), "hidden_size"), "vocab_size"));
  CHECK_THAT(said, ContainsSubstring("a config of llama needs hidden_size, vocab_size"));
}

TEST_CASE("a wrong value of a config is shown at its place") {
  const std::string said = mistakes_of(
      "{\n  \"model_type\": \"gpt2\",\n  \"n_embd\": -4, \"n_layer\": 2, \"n_head\": 2,\n"
      "  \"vocab_size\": 100, \"n_positions\": 1e30}");
  CHECK_THAT(said, ContainsSubstring("file:3:3: error: n_embd must be a whole number from 1"));
  CHECK_THAT(said, ContainsSubstring("file:4:22: error: n_positions must be a whole number"));
}

TEST_CASE("a wrong value is shown in its own part of a config, and not where another part has such a key") {
  const std::string said = mistakes_of(
      "{\"model_type\": \"many\", \"architectures\": [\"M\"],\n"
      "  \"vision_config\": {\"n_embd\": 8, \"text\": \"a \\\" {\"},\n"
      "  \"text_config\": {\"model_type\": \"gpt2\", \"n_embd\": -4, \"n_layer\": 2, \"n_head\": 2,\n"
      "    \"vocab_size\": 100, \"n_positions\": 8}}");
  CHECK_THAT(said, ContainsSubstring("file:3:41: error: n_embd must be a whole number from 1"));
}

TEST_CASE("sizes that make no network are told of the config") {
  CHECK_THAT(mistakes_of(R"({"model_type": "gpt2", "n_embd": 10, "n_layer": 2, "n_head": 3, "vocab_size": 100,
             "n_positions": 8})"),
             ContainsSubstring("3 heads do not divide the width 10"));
  CHECK_THAT(mistakes_of(R"({"model_type": "swin", "depths": [2, 2], "num_heads": [3], "embed_dim": 96})"),
             ContainsSubstring("depths has 2 stages, num_heads 1"));
}

TEST_CASE("an unknown model type is answered by those that are known") {
  const std::string said = mistakes_of("{\"model_type\": \"mamba\"}");
  CHECK_THAT(said, ContainsSubstring("unknown model_type \"mamba\""));
  CHECK_THAT(
      said, ContainsSubstring("bert, roberta, gpt2, gpt_neox, llama, mistral, mixtral, qwen2, qwen3, gemma"));
}

TEST_CASE("of a config of several parts the text is taken") {
  const ImportedModel made =
      imported("{\"model_type\": \"idefics\", \"text_config\": " + config_of("Mistral") + "}");
  CHECK(expanded_text(made).parameter_elements() == 7'241'732'096);
  CHECK(remarks(made, "only the part in text_config"));
}

TEST_CASE("a config of LLaVA has its tower and its projector, too") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ExpandedModel model =
      network_of("{\"model_type\": \"llava\", \"text_config\": " + config_of("Mistral") + "}");
  const std::int64_t tower = 303'507'456, projector = (1024 + 1) * 4096 + (4096 + 1) * 4096;
  CHECK(model.parameter_elements() + model.frozen_elements() == 7'241'732'096 + tower + projector);
}

TEST_CASE("length and image of a sample are what is asked for") {
  CHECK(network_of(config_of("gpt2"), {77, {}}).input_elements == 77);
  CHECK(network_of(config_of("swin-tiny"), {{}, 448}).input_elements == 3 * 448 * 448);
  CHECK(remarks(imported(config_of("Mistral"), {65536, {}}), "65536 tokens are more than the 32768"));
}

TEST_CASE("JSON that nests without end or breaks off is refused") {
  std::string bomb = "{\"model_type\": \"gpt2\", \"x\": ";
  CHECK_THAT(mistakes_of(bomb + std::string(200'000, '[') + "}"),
             ContainsSubstring("nested more than 32 deep"));
  CHECK_THAT(mistakes_of("{\"model_type\": \"gpt2\", "), ContainsSubstring("no JSON object"));
  CHECK_THAT(mistakes_of("{\"n_embd\": 3}"), ContainsSubstring("known: Hugging Face config"));
}

}  // namespace network_config_test
