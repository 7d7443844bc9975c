// Writes language models that read from left to right: GPT-2; GPT-NeoX and Pythia; Llama and its relatives
// (Mistral, Mixtral, Qwen 2 and 3, Gemma, InternLM, Granite, Phi-3, StableLM).
//
// The templates follow the modules of transformers; there the logits are shifted by a copy.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

/// GPT-2: learned positions, one packed projection for queries, keys and values, dropout behind each part.
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
<head>
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

/// The body of a GPT-NeoX layer with use_parallel_residual: both parts read the layer's input.
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

/// The experts of Mixtral: no shared expert, and each expert is called apart.
constexpr std::string_view kExperts =
    "      { type = \"experts\", experts = <experts>, top = <top>, width = <inner>, name = "
    "\"block_sparse_moe\" },\n";

}  // namespace

/// GPT-2 has names of its own for its sizes, and by default an inner width of four times the width.
std::string write_gpt2(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"n_embd", "hidden_size"});
  const std::int64_t positions = values.size({"n_positions", "n_ctx"});
  Filling fill;
  fill.put("title", title_of(source)).put("width", width).put("positions", positions).put("soft_cap", "");
  fill.put("tokens", source.tokens(positions, kUsualTokens)).put("words", values.size({"vocab_size"}));
  fill.put("layers", values.size({"n_layer"})).put("heads", values.size({"n_head"}));
  fill.put("inner", values.size_or({"n_inner"}, 4 * width));
  fill.put("activation", activation_layer(source, values.word_or("activation_function", "gelu_new")));
  put_tied(source, fill, true);
  fill.put("head", head_of(source, fill));
  return fill.into(kGpt2);
}

/// Attention and perceptron stand side by side unless use_parallel_residual is false.
std::string write_gpt_neox(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"}), heads = values.size({"num_attention_heads"});
  // Elements of a head that are rotated: rotary_pct of it, a quarter by default.
  const auto rotary = static_cast<std::int64_t>(
      values.share_or("rotary_pct", 0.25) * static_cast<double>(width / std::max<std::int64_t>(1, heads)));
  const bool bias = values.flag_or("attention_bias", true);
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm"});
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
  return alike_layers(fill, values.size({"num_hidden_layers"}),
                      values.flag_or("use_parallel_residual", true) ? kSideBySide : kInSeries);
}

/// The families differ in norms, in the scale of embeddings (Gemma) and in experts (Mixtral).
std::string write_llama(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool is_gemma = source.model_type == "gemma", has_experts = source.model_type == "mixtral";
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  const bool has_layer_norms = source.model_type == "stablelm";
  put_decoder(source, fill, {width, has_layer_norms ? "layer_norm" : "rms_norm", is_gemma});
  // Gemma multiplies the embeddings by the root of the width.
  if (is_gemma) fill.put("before", "  { type = \"scale\" },\n");
  fill.put("inner", values.size({"intermediate_size"}));
  fill.put("activation",
           // Configs of Gemma name "gelu" for what the published networks compute with its tanh form.
           activation_layer(source, is_gemma ? "gelu_pytorch_tanh" : values.word_or("hidden_act", "silu")));
  fill.put("mlp_bias", word_of(values.flag_or("mlp_bias", false)));
  fill.put("attention", llama_attention(source, width));
  if (has_experts) {
    fill.put("experts", values.size({"num_local_experts"})).put("top", values.size({"num_experts_per_tok"}));
  }
  fill.put("mlp", std::string(has_experts ? kExperts : kGatedMlp));
  return alike_layers(fill, values.size({"num_hidden_layers"}), kInSeries);
}

}  // namespace foretrain
