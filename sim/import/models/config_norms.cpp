// Writes decoders whose norms differ from Llama's: before and after each part (Gemma 2 and 3), after it alone
// (OLMo 2), without weights (OLMo), with biases and a squared ReLU (Nemotron).
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

/// The layer of Gemma 2 and 3: each part has a norm in front and one behind.
constexpr std::string_view kBeforeAndAfter = R"(  { type = "add", branches = [
    [
      { type = "<norm>", name = "input_layernorm" },
      <attention>,
      { type = "<norm>", name = "post_attention_layernorm" },
    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "<norm>", name = "pre_feedforward_layernorm" },
<mlp>      { type = "<norm>", name = "post_feedforward_layernorm" },
    ],
    [],
  ] },
)";

/// The layer of OLMo 2: norms stand behind each part, inside the residual connection.
constexpr std::string_view kAfter = R"(  { type = "add", branches = [
    [
      <attention>,
      { type = "<norm>", name = "post_attention_layernorm" },
    ],
    [],
  ] },
  { type = "add", branches = [
    [
<mlp>      { type = "<norm>", name = "post_feedforward_layernorm" },
    ],
    [],
  ] },
)";

/// Nemotron's perceptron: two matrices without a gate.
constexpr std::string_view kSquaredMlp =
    R"(      { type = "linear", out = <inner>, bias = <mlp_bias>, name = "up_proj" },
      <activation>,
      { type = "linear", out = <width>, bias = <mlp_bias>, name = "down_proj" },
)";

/// Gemma 2 bounds its logits by a tanh: they are divided, bent, and multiplied.
constexpr std::string_view kSoftCap = R"(  { type = "scale", name = "logits_divided" },
  { type = "tanh", name = "logits_bent" },
  { type = "scale", name = "logits_multiplied" },
)";

/// Tokens that a layer with a window sees, where the config does not say.
constexpr std::int64_t kUsualWindow = 4096;
/// Period of the layers that see all tokens: every second one of Gemma 2, every sixth of Gemma 3.
constexpr std::int64_t kGlobalOf2 = 2, kGlobalOf3 = 6;

/// Returns the layers with their windows. A window no smaller than the sample changes nothing and is written
/// as 0, so that all layers become equal.
std::vector<DecoderLayer> windowed_layers(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool is_third = source.model_type.starts_with("gemma3");
  const std::int64_t window = values.size_or({"sliding_window"}, kUsualWindow),
                     period = values.size_or({"sliding_window_pattern", "_sliding_window_pattern"},
                                             is_third ? kGlobalOf3 : kGlobalOf2),
                     most = values.size_or({"max_position_embeddings"}, kUsualTokens);
  const bool matters = window < source.options.sequence.value_or(std::min(most, kUsualTokens));
  const std::int64_t count = listed_layers(source);
  std::vector<DecoderLayer> layers;
  for (std::int64_t i = 0; i < count; ++i)
    layers.push_back({"decoder", fmt::format("window = {}", matters && (i + 1) % period != 0 ? window : 0)});
  return layers;
}

/// Fills what the three families read alike, and completes the decoder.
std::string text_of(const ConfigSource& source, Filling& fill, std::string_view body,
                    const std::vector<DecoderLayer>& layers) {
  ConfigValues& values = source.values;
  fill.put("inner", values.size({"intermediate_size"}));
  fill.put("mlp_bias", word_of(values.flag_or("mlp_bias", false)));
  fill.put("layer_lines", layer_lines(layers)).put("blocks", block_text("decoder", body));
  return fill.into(kDecoder);
}

/// Returns as many equal layers as the config has.
std::vector<DecoderLayer> equal_layers(const ConfigSource& source) {
  return std::vector<DecoderLayer>(static_cast<std::size_t>(listed_layers(source)));
}

}  // namespace

/// Gemma 2 bounds its logits; Gemma 3 norms queries and keys instead.
std::string write_gemma_windows(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width, "rms_norm", true});
  fill.put("before", "  { type = \"scale\" },\n");
  if (source.model_type == "gemma2") fill.put("soft_cap", std::string(kSoftCap));
  fill.put("activation", activation_layer(source, values.word_or("hidden_activation", "gelu_pytorch_tanh")));
  fill.put("attention",
           llama_attention(source, width,
                           source.model_type == "gemma2" ? ", window = \"$window\""
                                                         : ", norm = true, window = \"$window\""));
  fill.put("mlp", std::string(kGatedMlp));
  return text_of(source, fill, kBeforeAndAfter, windowed_layers(source));
}

/// OLMo has LayerNorms without weights; OLMo 2 has RMSNorms behind each part and norms the rows of queries
/// and keys.
std::string write_olmo(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool is_first = source.model_type == "olmo";
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width, is_first ? "layer_norm" : "rms_norm"});
  if (is_first) fill.put("norm_keys", ", trained = false");
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "silu")));
  fill.put("attention", llama_attention(source, width, is_first ? "" : ", norm_rows = true"));
  fill.put("mlp", std::string(kGatedMlp));
  return text_of(source, fill, is_first ? kInSeries : kAfter, equal_layers(source));
}

/// Nemotron has LayerNorms with biases and a squared ReLU without a gate.
std::string write_nemotron(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"});
  Filling fill;
  put_decoder(source, fill, {width, "layer_norm"});
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "relu2")));
  fill.put("attention", llama_attention(source, width));
  fill.put("mlp", std::string(kSquaredMlp));
  return text_of(source, fill, kInSeries, equal_layers(source));
}

}  // namespace foretrain
