// Language models that read from left to right: GPT-2; GPT-NeoX and Pythia; Llama and what is built like it
// (Mistral, Mixtral, Qwen 2 and 3, Gemma).
//
// As transformers writes them: logits are shifted by a copy, attention of Llama's kin is one fused kernel
// (sdpa, its default since 4.36) unless the config asks for eager.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_families.hpp"

namespace foretrain {

namespace {

/// Training on longer samples is asked for.
constexpr std::int64_t kUsualTokens = 2048;

constexpr std::string_view kGpt2 = R"(description = "<title>, <tokens> tokens"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, name = "wte"<tied> },
  { type = "position", entries = <positions>, name = "wpe" },
  { type = "dropout" },
  { type = "block", block = "decoder", repeat = <layers>, name = "h" },
  { type = "layer_norm", name = "ln_f" },
<head>]

[blocks.decoder]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "attention", heads = <heads>, projection = "packed", causal = true, dropout = true },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "linear", out = <inner> },
      <activation>,
      { type = "linear", out = <width> },
      { type = "dropout" },
    ],
    [],
  ] },
]
)";

constexpr std::string_view kDecoder = R"(description = "<title>, <tokens> tokens"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, name = "embed_tokens"<tied> },
<scale>  { type = "block", block = "decoder", repeat = <layers>, name = "layers" },
  { type = "<norm>", name = "norm" },
<head>]

[blocks.decoder]
layers = [
<body>]
)";

constexpr std::string_view kInSeries = R"(  { type = "add", branches = [
    [
      { type = "<norm>", name = "input_layernorm" },
      <attention>,
    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "<norm>", name = "post_attention_layernorm" },
<mlp>    ],
    [],
  ] },
)";

constexpr std::string_view kSideBySide = R"(  { type = "add", branches = [
    [],
    [
      { type = "<norm>", name = "post_attention_layernorm" },
<mlp>    ],
    [
      { type = "<norm>", name = "input_layernorm" },
      <attention>,
    ],
  ] },
)";

constexpr std::string_view kPlainMlp = R"(      { type = "linear", out = <inner>, name = "dense_h_to_4h" },
      <activation>,
      { type = "linear", out = <width>, name = "dense_4h_to_h" },
)";

constexpr std::string_view kGatedMlp = R"(      { type = "multiply", branches = [
        [
          { type = "linear", out = <inner>, bias = <mlp_bias>, name = "gate_proj" },
          <activation>,
        ],
        [{ type = "linear", out = <inner>, bias = <mlp_bias>, name = "up_proj" }],
      ] },
      { type = "linear", out = <width>, bias = <mlp_bias>, name = "down_proj" },
)";

constexpr std::string_view kExperts =
    "      { type = \"experts\", experts = <experts>, top = <top>, width = <inner>, name = "
    "\"block_sparse_moe\" },\n";

constexpr std::string_view kNextWord =
    R"(  { type = "linear", out = <words>, bias = false<tied>, name = "lm_head" },
  { type = "shift" },
  { type = "loss" },
)";
constexpr std::string_view kClasses = R"(  { type = "linear", out = <labels>, bias = false, name = "score" },
  { type = "first_token" },
  { type = "loss" },
)";

const char* word_of(bool flag) { return flag ? "true" : "false"; }

/// Which head the config's architecture has: the next word where it says nothing.
std::string head_of(const ConfigSource& source, Filling& fill) {
  if (source.is_for("ForSequenceClassification")) {
    fill.put("labels", source.labels()).put("tied", "");
    return std::string(kClasses);
  }
  if (source.architecture.ends_with("Model") && !source.is_for("LMHead") && !source.is_for("DoubleHeads")) {
    fill.put("tied", "");
    return loss_without_head(source);
  }
  if (!source.is_for("ForCausalLM") && !source.is_for("LMHead"))
    source.remarks.push_back(source.architecture.empty()
                                 ? "the config names no architecture: taken with the head for the next word"
                                 : fmt::format("the head of {} is not known: taken as that for the next word",
                                               quotable(source.architecture)));
  return std::string(kNextWord);
}

std::string title_of(const ConfigSource& source) {
  return quotable(source.architecture.empty() ? source.model_type : source.architecture);
}

void put_tied(const ConfigSource& source, Filling& fill, bool otherwise) {
  const bool tied = source.values.flag_or("tie_word_embeddings", otherwise);
  fill.put("tied", tied ? ", weights = \"words\"" : "");
}

bool is_fused(const ConfigSource& source) {
  const std::string words =
      source.values.word_or("_attn_implementation", source.values.word_or("attn_implementation", "sdpa"));
  return words != "eager";
}

/// The attention of Llama's kin; what they do otherwise is in their configs, or follows from their name.
std::string llama_attention(const ConfigSource& source, std::int64_t width) {
  ConfigValues& values = source.values;
  const std::int64_t heads = values.size({"num_attention_heads"});
  const std::int64_t given = values.size_or({"head_dim"}, 0);
  const std::int64_t usual = source.model_type == "gemma"   ? 256
                             : source.model_type == "qwen3" ? 128
                                                            : std::max<std::int64_t>(1, width / heads);
  const std::int64_t head_width = given > 0 ? given : usual;
  const bool is_qwen2 = source.model_type == "qwen2";
  const bool bias = values.flag_or("attention_bias", false);
  if (given == 0 && usual * heads < width && width % heads != 0)
    values.refuse("num_attention_heads", fmt::format("{} heads do not divide hidden_size {}", heads, width));
  return fmt::format(
      "{{ type = \"grouped_attention\", heads = {}, groups = {}, head_width = {}, rotary = {}{}{}{}, causal "
      "= "
      "true{}{}, name = \"self_attn\" }}",
      heads, values.size_or({"num_key_value_heads"}, heads), head_width, head_width,
      is_qwen2 || bias ? ", query_bias = true, key_bias = true, value_bias = true" : "",
      bias ? ", output_bias = true" : "", source.model_type == "qwen3" ? ", norm = true" : "",
      is_fused(source) ? ", fused = true" : "",
      values.share_or("attention_dropout", 0) > 0 && !is_fused(source) ? ", dropout = true" : "");
}

}  // namespace

std::string write_gpt2(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"n_embd", "hidden_size"});
  const std::int64_t positions = values.size({"n_positions", "n_ctx"});
  Filling fill;
  fill.put("title", title_of(source)).put("width", width).put("positions", positions);
  fill.put("tokens", source.tokens(positions, kUsualTokens)).put("words", values.size({"vocab_size"}));
  fill.put("layers", values.size({"n_layer"})).put("heads", values.size({"n_head"}));
  fill.put("inner", values.size_or({"n_inner"}, 4 * width));
  fill.put("activation", activation_layer(source, values.word_or("activation_function", "gelu_new")));
  put_tied(source, fill, true);
  fill.put("head", head_of(source, fill));
  return fill.into(kGpt2);
}

std::string write_gpt_neox(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"}), heads = values.size({"num_attention_heads"});
  const auto rotary = static_cast<std::int64_t>(
      values.share_or("rotary_pct", 0.25) * static_cast<double>(width / std::max<std::int64_t>(1, heads)));
  const bool bias = values.flag_or("attention_bias", true);
  Filling fill;
  fill.put("title", title_of(source)).put("width", width).put("norm", "layer_norm").put("scale", "");
  fill.put("tokens", source.tokens(values.size({"max_position_embeddings"}), kUsualTokens));
  fill.put("words", values.size({"vocab_size"})).put("layers", values.size({"num_hidden_layers"}));
  fill.put("inner", values.size({"intermediate_size"}));
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu")));
  fill.put(
      "attention",
      fmt::format("{{ type = \"grouped_attention\", heads = {}, packed = true{}{}, causal = true{}, name = "
                  "\"attention\" }}",
                  heads, rotary > 0 ? fmt::format(", rotary = {}", rotary) : "",
                  bias ? ", query_bias = true, output_bias = true" : "",
                  is_fused(source) ? ", fused = true" : ""));
  fill.put("mlp", std::string(kPlainMlp));
  fill.put("body", std::string(values.flag_or("use_parallel_residual", true) ? kSideBySide : kInSeries));
  put_tied(source, fill, false);
  fill.put("head", head_of(source, fill));
  return fill.into(kDecoder);
}

std::string write_llama(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool is_gemma = source.model_type == "gemma", has_experts = source.model_type == "mixtral";
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  fill.put("title", title_of(source)).put("width", width).put("norm", "rms_norm");
  fill.put("scale", is_gemma ? "  { type = \"scale\" },\n" : "");
  fill.put("tokens", source.tokens(values.size_or({"max_position_embeddings"}, kUsualTokens), kUsualTokens));
  fill.put("words", values.size({"vocab_size"})).put("layers", values.size({"num_hidden_layers"}));
  fill.put("inner", values.size({"intermediate_size"}));
  fill.put("activation",
           activation_layer(source, is_gemma ? "gelu_pytorch_tanh" : values.word_or("hidden_act", "silu")));
  fill.put("mlp_bias", word_of(values.flag_or("mlp_bias", false)));
  fill.put("attention", llama_attention(source, width));
  if (has_experts) {
    fill.put("experts", values.size({"num_local_experts"})).put("top", values.size({"num_experts_per_tok"}));
  }
  fill.put("mlp", std::string(has_experts ? kExperts : kGatedMlp)).put("body", std::string(kInSeries));
  put_tied(source, fill, is_gemma);
  fill.put("head", head_of(source, fill));
  return fill.into(kDecoder);
}

}  // namespace foretrain
