// Configs of decoders, small ones made here: each has the parameters that its sizes give by hand.
#include "tests/unit/import/models/imported.hpp"

namespace decoder_config_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Width 16, 3 layers, 4 heads, 50 words: what most of these have.
std::string config(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type + R"(", "architectures": ["SmallForCausalLM"], "vocab_size": 50, )" +
         R"("hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, )" + more + "}";
}

constexpr std::int64_t kWords = 50 * 16, kAttention = 4 * 16 * 16, kNorm = 16;
constexpr std::int64_t gated(std::int64_t width) { return 3 * 16 * width; }

/// With the vectors that nothing trains.
std::int64_t parameters(const std::string& text) {
  const ExpandedModel model = network_of(text, {32, {}});
  return model.parameter_elements() + model.frozen_elements();
}

}  // namespace

TEST_CASE("configs of mixtures have dense layers, shared experts and a balanced choice where they say so") {
  const std::string qwen2 = R"("num_key_value_heads": 4, "head_dim": 4, "num_experts": 6, )"
                            R"("num_experts_per_tok": 2, "moe_intermediate_size": 8, )"
                            R"("shared_expert_intermediate_size": 20)";
  CHECK(parameters(config("qwen2_moe", qwen2)) ==
        2 * kWords + kNorm + 3 * (kAttention + 3 * 16 + 2 * kNorm + 16 * 6 + 6 * gated(8) + gated(20) + 16));
  const std::string qwen3 =
      R"("num_key_value_heads": 2, "head_dim": 8, "num_experts": 6, )"
      R"("num_experts_per_tok": 2, "moe_intermediate_size": 8, "decoder_sparse_step": 3, )"
      R"("intermediate_size": 40)";
  CHECK(parameters(config("qwen3_moe", qwen3)) == 2 * kWords + kNorm +
                                                      3 * (16 * 8 * (2 * 4 + 2 * 2) + 2 * 8 + 2 * kNorm) +
                                                      2 * gated(40) + 16 * 6 + 6 * gated(8));
}

TEST_CASE("a config of DeepSeek has latent attention, with a rank of queries or without") {
  const std::string sizes =
      R"("q_lora_rank": RANK, "kv_lora_rank": 8, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, )"
      R"("v_head_dim": 4, "n_routed_experts": 6, "n_shared_experts": 2, "num_experts_per_tok": 2, )"
      R"("moe_intermediate_size": 8, "first_k_dense_replace": 1, "intermediate_size": 40)";
  const auto ranked = [&](const std::string& rank) {
    std::string out = sizes;
    return out.replace(out.find("RANK"), 4, rank);
  };
  const std::int64_t keys = 16 * 10 + 8 + 8 * 4 * 7 + 16 * 16,
                     others = 2 * kWords + kNorm + gated(40) + 3 * 2 * kNorm + 2 * (16 * 6 + 8 * gated(8));
  CHECK(parameters(config("deepseek_v2", ranked("null"))) == others + 3 * (keys + 16 * 20));
  const std::int64_t third = others + 3 * (keys + 16 * 12 + 12 + 12 * 20) + 2 * 6;
  CHECK(parameters(config("deepseek_v3", ranked("12"))) == third);
  CHECK(parameters(config("kimi_k2", ranked("12"))) == third);
  CHECK(remarks(imported(config("deepseek_v3", ranked("12"))), "MTP"));
}

TEST_CASE("a config of Llama 4 has mixtures between dense layers, and layers without positions") {
  const std::string sizes = R"("num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 8, )"
                            R"("intermediate_size_mlp": 40, "num_local_experts": 6, )"
                            R"("num_experts_per_tok": 1, "interleave_moe_layer_step": 2, )"
                            R"("no_rope_layer_interval": 3)";
  const std::string text = config("llama4_text", sizes);
  CHECK(parameters(text) == 2 * kWords + kNorm + 3 * (16 * 4 * (2 * 4 + 2 * 2) + 2 * kNorm) + 2 * gated(40) +
                                16 * 6 + 7 * gated(8));
  CHECK_THAT(imported(text).text, ContainsSubstring(R"(with = { rotary = 0 }, name = "layers.2")"));
  CHECK(parameters(R"({"model_type": "llama4", "text_config": )" + text + "}") == parameters(text));
}

TEST_CASE("Gemma 2 and 3 have four norms a layer, and layers that see a window") {
  const std::string sizes = R"("num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 40, )"
                            R"("sliding_window": 8)";
  const std::int64_t second = kWords + kNorm + 3 * (16 * 4 * (2 * 4 + 2 * 2) + 4 * kNorm + gated(40));
  CHECK(parameters(config("gemma2", sizes)) == second);
  CHECK(parameters(config("gemma3_text", sizes)) == second + 3 * 2 * 4);
  CHECK_THAT(imported(config("gemma2", sizes), {32, {}}).text,
             ContainsSubstring(R"(with = { window = 0 }, name = "layers.1")"));
  // No sample is longer than the window: all layers are alike.
  CHECK_THAT(imported(config("gemma2", sizes), {8, {}}).text,
             ContainsSubstring(R"(repeat = 3, with = { window = 0 }, name = "layers")"));
}

TEST_CASE("OLMo's norms have no weights, and OLMo 2 has them after its parts and over rows of queries") {
  const std::string sizes = R"("num_key_value_heads": 4, "intermediate_size": 40)";
  CHECK(parameters(config("olmo", sizes)) == 2 * kWords + 3 * (kAttention + gated(40)));
  CHECK(parameters(config("olmo2", sizes)) ==
        2 * kWords + kNorm + 3 * (kAttention + gated(40) + 2 * kNorm + 2 * 16));
}

TEST_CASE("Nemotron has norms with biases and a perceptron of two products") {
  const std::string text = config(
      "nemotron", R"("num_key_value_heads": 2, "intermediate_size": 40, "partial_rotary_factor": 0.5)");
  CHECK(parameters(text) == 2 * kWords + 2 * kNorm + 3 * (16 * 4 * 12 + 2 * 16 * 40 + 4 * kNorm));
  CHECK_THAT(imported(text).text, ContainsSubstring("rotary = 2,"));
  CHECK_THAT(imported(text).text, ContainsSubstring("squared_relu"));
}

TEST_CASE("InternLM has biases of all four projections") {
  CHECK(parameters(config("internlm", R"("intermediate_size": 40)")) ==
        2 * kWords + kNorm + 3 * (kAttention + 4 * 16 + 2 * kNorm + gated(40)));
}

TEST_CASE("Falcon has one key for all queries and one norm, or groups and two") {
  const std::int64_t perceptron = 8 * 16 * 16;
  CHECK(parameters(config("falcon", R"("multi_query": true)")) ==
        kWords + 2 * kNorm + 3 * (16 * (16 + 2 * 4) + 16 * 16 + perceptron + 2 * kNorm));
  CHECK(parameters(config("falcon", R"("new_decoder_architecture": true, "num_kv_heads": 2)")) ==
        kWords + 2 * kNorm + 3 * (16 * (16 + 2 * 8) + 16 * 16 + perceptron + 4 * kNorm));
  CHECK(parameters(config("falcon", R"("alibi": true, "bias": true, "parallel_attn": false, )"
                                    R"("multi_query": false)")) ==
        kWords + 2 * kNorm + 3 * (12 * 16 * 16 + 13 * 16));
}

TEST_CASE("BLOOM norms its words, and has biases everywhere") {
  const std::string text = config("bloom", R"("seq_length": 64)");
  CHECK(parameters(text) == kWords + 4 * kNorm + 3 * (12 * 16 * 16 + 13 * 16));
  CHECK_THAT(imported(text).text, ContainsSubstring("alibi = true"));
}

TEST_CASE("MPT has slopes and no biases, or positions and biases") {
  const std::string sizes = R"({"model_type": "mpt", "architectures": ["MPTForCausalLM"], "d_model": 16, )"
                            R"("n_layers": 3, "n_heads": 4, "vocab_size": 50, "max_seq_len": 64, )"
                            R"("expansion_ratio": 4, )";
  CHECK(parameters(sizes + R"("no_bias": true})") == kWords + kNorm + 3 * (12 * 16 * 16 + 2 * kNorm));
  CHECK(parameters(sizes + R"("no_bias": false, "attn_config": {"alibi": false}})") ==
        kWords + 64 * 16 + 2 * kNorm + 3 * (12 * 16 * 16 + 13 * 16));
}

TEST_CASE("what a decoder's config lacks is named once") {
  CHECK_THAT(mistakes_of(R"({"model_type": "olmo2"})"),
             ContainsSubstring("a config of olmo2 needs hidden_size, vocab_size, num_attention_heads, "
                               "num_hidden_layers, intermediate_size"));
  CHECK_THAT(mistakes_of(R"({"model_type": "mpt"})"),
             ContainsSubstring("a config of mpt needs d_model, n_heads, vocab_size, n_layers"));
}

TEST_CASE("a list of layers has an end") {
  std::string text = config("olmo", R"("intermediate_size": 40)");
  text.replace(text.find(R"("num_hidden_layers": 3)"), 22, R"("num_hidden_layers": 1000000)");
  CHECK_THAT(mistakes_of(text), ContainsSubstring("1000000 layers are too many"));
}

}  // namespace decoder_config_test
