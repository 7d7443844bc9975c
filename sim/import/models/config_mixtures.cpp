// Writes mixtures of experts with parts that Mixtral does not have: shared experts, dense layers among the
// others, latent attention, layers without positions. They are Qwen2-MoE, Qwen3-MoE, DeepSeek-V2 and V3, Kimi
// K2, and Llama 4.
//
// Experts are one kernel for each product (grouped_mm): transformers runs them so since version 5, and
// torchtitan and Megatron did earlier.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

/// Names of the two blocks that the layers of a mixture use.
constexpr std::string_view kMixture = "mixture", kDense = "dense";

/// Returns kInSeries with another gap for what follows the attention.
std::string body_with(std::string_view gap) {
  std::string body(kInSeries);
  return body.replace(body.find("<mlp>"), 5, gap);
}

/// Sizes of the part with experts in one layer.
struct Mixture {
  // Number of routed experts, of those that a token visits, and the inner width of one.
  std::int64_t experts = 1, top = 1, width = 1;
  // Inner width of the shared experts together; 0: none.
  std::int64_t shared_width = 0;
  // A gate weighs the shared expert; a bias per expert keeps the load even (DeepSeek-V3).
  bool shared_gate = false, balance_bias = false;
  // Inner width of the layers without experts.
  std::int64_t dense_width = 1;
};

/// Returns the layer of type "experts".
std::string experts_line(const Mixture& own) {
  return fmt::format(
      "      {{ type = \"experts\", experts = {}, top = {}, width = {}, grouped = true{}{}{}, name = \"mlp\" "
      "}},\n",
      own.experts, own.top, own.width,
      own.shared_width > 0 ? fmt::format(", shared_width = {}", own.shared_width) : "",
      own.shared_gate ? ", shared_gate = true" : "", own.balance_bias ? ", balance_bias = true" : "");
}

/// Fills the decoder. A block is written only where a layer uses it.
std::string mixture_text(const ConfigSource& source, Filling& fill, const Mixture& own,
                         const std::vector<DecoderLayer>& layers) {
  fill.put("activation", activation_layer(source, source.values.word_or("hidden_act", "silu")));
  fill.put("mlp_bias", word_of(source.values.flag_or("mlp_bias", false))).put("inner", own.dense_width);
  fill.put("dense", std::string(kGatedMlp)).put("experts", experts_line(own));
  const auto has = [&](std::string_view block) {
    return std::ranges::any_of(layers, [&](const DecoderLayer& layer) { return layer.block == block; });
  };
  std::string blocks;
  if (has(kDense)) blocks += block_text(kDense, body_with("<dense>"));
  if (has(kMixture)) blocks += block_text(kMixture, body_with("<experts>"));
  fill.put("layer_lines", layer_lines(layers)).put("blocks", blocks);
  return fill.into(kDecoder);
}

/// Returns DeepSeek's attention: queries and keys go through matrices of low rank, and each head has a part
/// with positions and a part without.
std::string latent_attention(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t rank = values.size_or({"q_lora_rank"}, 0);
  return fmt::format(
      "{{ type = \"latent_attention\", heads = {}{}, kv_rank = {}, plain = {}, rotary = {}, value = {}, "
      "causal = true{}, name = \"self_attn\" }}",
      values.size({"num_attention_heads"}), rank > 0 ? fmt::format(", query_rank = {}", rank) : "",
      values.size({"kv_lora_rank"}), values.size({"qk_nope_head_dim"}), values.size({"qk_rope_head_dim"}),
      values.size({"v_head_dim"}), is_fused(source) ? ", fused = true" : "");
}

/// Returns layers of which every `step`-th is a mixture and the others are dense.
std::vector<DecoderLayer> every(std::int64_t step, std::int64_t layers) {
  std::vector<DecoderLayer> out;
  for (std::int64_t i = 0; i < layers; ++i)
    out.push_back({std::string((i + 1) % step == 0 ? kMixture : kDense), ""});
  return out;
}

}  // namespace

/// Qwen2 and Qwen3 differ in the shared expert and its gate.
std::string write_qwen_moe(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"num_experts", "num_local_experts"}), values.size({"num_experts_per_tok"}),
              values.size({"moe_intermediate_size"})};
  own.dense_width = values.size_or({"intermediate_size"}, own.width);
  // Only Qwen2-MoE has a shared expert.
  if (source.model_type == "qwen2_moe") {
    own.shared_width = values.size({"shared_expert_intermediate_size"});
    own.shared_gate = true;
  }
  if (values.count("mlp_only_layers") > 0)
    source.remarks.push_back("mlp_only_layers are not read: layers follow decoder_sparse_step");
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width});
  fill.put("attention", llama_attention(source, width));
  return mixture_text(source, fill, own,
                      every(values.size_or({"decoder_sparse_step"}, 1), listed_layers(source)));
}

/// The first layers are dense; the shared experts act as one expert of their common width.
std::string write_deepseek(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"n_routed_experts"}), values.size({"num_experts_per_tok"}),
              values.size({"moe_intermediate_size"})};
  // More shared experts than routed ones cannot be meant; the limit also keeps the product small.
  own.shared_width = std::min(values.size_or({"n_shared_experts"}, 1), own.experts) * own.width;
  // The default of topk_method is the one of the family's published networks.
  own.balance_bias =
      values.word_or("topk_method", source.model_type == "deepseek_v2" ? "greedy" : "noaux_tc") == "noaux_tc";
  own.dense_width = values.size({"intermediate_size"});
  const std::int64_t count = listed_layers(source),
                     dense = std::min(values.size_or({"first_k_dense_replace"}, 1), count);
  std::vector<DecoderLayer> layers(static_cast<std::size_t>(count), {std::string(kMixture), ""});
  std::fill_n(layers.begin(), dense, DecoderLayer{std::string(kDense), ""});
  if (values.size_or({"num_nextn_predict_layers"}, 1) > 0 && source.model_type == "deepseek_v3")
    source.remarks.push_back("without the layer that predicts a further token (MTP)");
  Filling fill;
  put_decoder(source, fill, {values.size({"hidden_size"})});
  fill.put("attention", latent_attention(source));
  return mixture_text(source, fill, own, layers);
}

/// Every no_rope_layer_interval-th layer of Llama 4 has no positions, so `rotary` is an argument of the
/// block.
std::string write_llama4(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"num_local_experts"}), values.size_or({"num_experts_per_tok"}, 1),
              values.size({"intermediate_size"})};
  own.shared_width = own.width, own.dense_width = values.size({"intermediate_size_mlp"});
  std::vector<DecoderLayer> layers =
      every(values.size_or({"interleave_moe_layer_step"}, 1), listed_layers(source));
  // The config counts layers from 1; layer 4 of each 4 has none by default.
  const auto without_position = static_cast<std::size_t>(values.size_or({"no_rope_layer_interval"}, 4));
  const std::int64_t head = values.size_or({"head_dim"}, 128);
  for (std::size_t i = 0; i < layers.size(); ++i)
    layers[i].with = fmt::format("rotary = {}", (i + 1) % without_position == 0 ? 0 : head);
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width});
  fill.put("attention", llama_attention(source, width, ", rotary = \"$rotary\""));
  return mixture_text(source, fill, own, layers);
}

}  // namespace foretrain
