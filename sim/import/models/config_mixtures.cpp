// Mixtures of experts with parts that Mixtral does not have: shared experts, dense layers among the others,
// latent attention, layers without positions. Qwen2-MoE, Qwen3-MoE, DeepSeek-V2 and V3, Kimi K2, Llama 4.
//
// Experts are one kernel for each product (grouped_mm), as transformers runs them by itself since its fifth
// version, and torchtitan and Megatron before it.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

constexpr std::string_view kMixture = "mixture", kDense = "dense";

/// kInSeries with another gap for what follows the attention.
std::string body_with(std::string_view gap) {
  std::string body(kInSeries);
  return body.replace(body.find("<mlp>"), 5, gap);
}

struct Mixture {
  std::int64_t experts = 1, top = 1, width = 1;
  std::int64_t shared_width = 0;
  bool shared_gate = false, balance_bias = false;
  std::int64_t dense_width = 1;  ///< of layers without experts
};

std::string experts_line(const Mixture& own) {
  return fmt::format(
      "      {{ type = \"experts\", experts = {}, top = {}, width = {}, grouped = true{}{}{}, name = \"mlp\" "
      "}},\n",
      own.experts, own.top, own.width,
      own.shared_width > 0 ? fmt::format(", shared_width = {}", own.shared_width) : "",
      own.shared_gate ? ", shared_gate = true" : "", own.balance_bias ? ", balance_bias = true" : "");
}

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

/// Every `step`-th layer is a mixture, the others are dense.
std::vector<DecoderLayer> every(std::int64_t step, std::int64_t layers) {
  std::vector<DecoderLayer> out;
  for (std::int64_t i = 0; i < layers; ++i)
    out.push_back({std::string((i + 1) % step == 0 ? kMixture : kDense), ""});
  return out;
}

}  // namespace

std::string write_qwen_moe(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"num_experts", "num_local_experts"}), values.size({"num_experts_per_tok"}),
              values.size({"moe_intermediate_size"})};
  own.dense_width = values.size_or({"intermediate_size"}, own.width);
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

std::string write_deepseek(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"n_routed_experts"}), values.size({"num_experts_per_tok"}),
              values.size({"moe_intermediate_size"})};
  own.shared_width = std::min(values.size_or({"n_shared_experts"}, 1), own.experts) * own.width;
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

std::string write_llama4(const ConfigSource& source) {
  ConfigValues& values = source.values;
  Mixture own{values.size({"num_local_experts"}), values.size_or({"num_experts_per_tok"}, 1),
              values.size({"intermediate_size"})};
  own.shared_width = own.width, own.dense_width = values.size({"intermediate_size_mlp"});
  std::vector<DecoderLayer> layers =
      every(values.size_or({"interleave_moe_layer_step"}, 1), listed_layers(source));
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
