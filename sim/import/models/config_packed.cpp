// Writes decoders of 2022 and 2023, most of them with one projection for queries, keys and values: Falcon,
// whose attention and perceptron stand side by side; BLOOM and MPT, whose positions are slopes of the scores
// (ALiBi); and Phi.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

/// A layer with one norm for attention and perceptron (Falcon 7B, Phi).
constexpr std::string_view kOneNorm = R"(  { type = "add", branches = [
    [],
    [
      { type = "<norm>"<norm_keys>, name = "input_layernorm" },
      { type = "add", branches = [
        [
          <attention>,
        ],
        [
<deep_mlp>        ],
      ] },
    ],
  ] },
)";
/// A layer with a norm for each of them (Falcon 40B and 180B).
constexpr std::string_view kTwoNorms = R"(  { type = "add", branches = [
    [],
    [
      { type = "<norm>"<norm_keys>, name = "ln_attn" },
      <attention>,
    ],
    [
      { type = "<norm>"<norm_keys>, name = "ln_mlp" },
<mlp>    ],
  ] },
)";

/// BLOOM norms the embeddings before its first layer.
constexpr std::string_view kEmbeddingNorm =
    "  { type = \"layer_norm\", name = \"word_embeddings_layernorm\" },\n";

/// An attention whose three projections are one matrix.
struct PackedAttention {
  // Heads of the queries, and groups of them that share keys and values.
  std::int64_t heads = 1, groups = 1;
  // Elements of a head, all of which rotary embeddings turn; 0: no rotary embedding.
  std::int64_t rotary = 0;
  bool alibi = false, bias = false, fused = false;
};

/// Returns the layer grouped_attention with one packed projection.
std::string attention_text(const PackedAttention& own) {
  return fmt::format(
      "{{ type = \"grouped_attention\", heads = {}{}, packed = true{}{}{}, causal = true{}, name = "
      "\"self_attention\" }}",
      own.heads, own.groups != own.heads ? fmt::format(", groups = {}", own.groups) : "",
      own.rotary > 0 ? fmt::format(", head_width = {0}, rotary = {0}", own.rotary) : "",
      own.alibi ? ", alibi = true" : "", own.bias ? ", query_bias = true, output_bias = true" : "",
      own.fused ? ", fused = true" : "");
}

/// Returns the same lines, indented by four more columns.
std::string deeper(std::string_view lines) {
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    out += fmt::format("    {}\n", lines.substr(at, end - at));
    at = end == std::string_view::npos ? lines.size() : end + 1;
  }
  return out;
}

/// Fills what Falcon, BLOOM and MPT share, and completes the decoder.
std::string packed_text(Filling& fill, std::int64_t layers, const PackedAttention& own, bool bias,
                        std::string_view body) {
  fill.put("attention", attention_text(own)).put("mlp", std::string(kPlainMlp));
  fill.put("deep_mlp", deeper(kPlainMlp));
  fill.put("plain_keys", bias ? "" : ", bias = false");
  return alike_layers(fill, layers, body);
}

/// Returns the groups of keys and values in a Falcon: as the config says in the new architecture; otherwise
/// one for all queries (multi_query, the default) or one for each head.
std::int64_t falcon_groups(ConfigValues& values, std::int64_t heads, bool is_new) {
  if (is_new) return values.size_or({"num_kv_heads", "n_head_kv"}, heads);
  return values.flag_or("multi_query", true) ? 1 : heads;
}

}  // namespace

/// The new architecture always has both parts side by side, with a norm for each.
std::string write_falcon(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool is_new = values.flag_or("new_decoder_architecture", false), bias = values.flag_or("bias", false),
             in_parallel = is_new || values.flag_or("parallel_attn", true);
  const std::int64_t width = values.size({"hidden_size"});
  PackedAttention own{values.size({"num_attention_heads", "n_head"})};
  own.groups = falcon_groups(values, own.heads, is_new);
  own.alibi = values.flag_or("alibi", false), own.bias = bias, own.fused = is_fused(source);
  if (!own.alibi) own.rotary = std::max<std::int64_t>(1, width / own.heads);
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm", true});
  fill.put("inner", values.size_or({"ffn_hidden_size"}, 4 * width));
  fill.put("activation", activation_layer(source, values.word_or("activation", "gelu")));
  return packed_text(fill, values.size({"num_hidden_layers", "n_layer"}), own, bias,
                     !in_parallel ? kInSeries : (is_new ? kTwoNorms : kOneNorm));
}

/// Writes Phi: attention and perceptron read one norm, and the head for words has a bias.
std::string write_phi(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm"});
  std::string head = head_of(source, fill);
  constexpr std::string_view kWithout = "bias = false";
  if (const std::size_t at = head.find(kWithout); at != std::string::npos)
    head.replace(at, kWithout.size(), "bias = true");
  fill.put("head", head).put("inner", values.size({"intermediate_size"}));
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu_new")));
  fill.put("attention", llama_attention(source, width));
  fill.put("mlp", std::string(kPlainMlp)).put("deep_mlp", deeper(kPlainMlp));
  return alike_layers(fill, values.size({"num_hidden_layers"}), kOneNorm);
}

/// BLOOM has ALiBi and biases everywhere; its config does not say so.
std::string write_bloom(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size", "n_embed"});
  PackedAttention own{values.size({"num_attention_heads", "n_head"})};
  own.groups = own.heads, own.alibi = own.bias = true;
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm", true});
  fill.put("before", std::string(kEmbeddingNorm)).put("inner", 4 * width);
  fill.put("activation", "{ type = \"gelu\" }");
  return packed_text(fill, values.size({"num_hidden_layers", "n_layer"}), own, true, kInSeries);
}

/// The keys of MPT's attention stand in an object of their own, attn_config.
std::string write_mpt(const ConfigSource& source) {
  ConfigValues& values = source.values;
  ConfigValues attention = values.inside("attn_config");
  const std::int64_t width = values.size({"d_model"});
  const bool bias = !values.flag_or("no_bias", true);
  PackedAttention own{values.size({"n_heads"})};
  own.groups = attention.size_or({"kv_n_heads"}, own.heads), own.bias = bias;
  own.alibi = attention.flag_or("alibi", true);
  own.fused = attention.word_or("attn_impl", "flash") != "torch";
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm", true});
  fill.put("norm_keys", bias ? "" : ", bias = false");
  // Without ALiBi, positions are a learned table.
  if (!own.alibi && values.flag_or("learned_pos_emb", true))
    fill.put("before", fmt::format("  {{ type = \"position\", entries = {}, name = \"wpe\" }},\n",
                                   values.size_or({"max_seq_len"}, kUsualTokens)));
  fill.put("inner", values.size_or({"expansion_ratio"}, 4) * width);
  fill.put("activation", "{ type = \"gelu\" }");
  return packed_text(fill, values.size({"n_layers"}), own, bias, kInSeries);
}

}  // namespace foretrain
