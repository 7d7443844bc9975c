// Writes networks of an encoder and a decoder: T5 and Whisper.
//
// Both read a config.json with an encoder's and a decoder's sizes, for example {"model_type": "t5",
// "d_model": 512, "num_layers": 6, ...}. The decoder's input is a second input of the network, and the
// encoder's result is the `memory` of each attention across both.
#include <fmt/format.h>

#include "sim/import/models/config_decoder_parts.hpp"

namespace foretrain {

namespace {

/// Tokens of a sample where the user does not say, at most; also where the config has no n_positions.
constexpr std::int64_t kUsualT5Tokens = 512;

/// T5. Scores get a trained bias by distance, which all layers of a side share; they are not scaled.
constexpr std::string_view kT5 = R"(description = "<title>, <tokens> tokens in and out"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, weights = "words", name = "shared" },
  { type = "dropout", as = "read" },
  { type = "relative_bias", heads = <heads>, buckets = <buckets>, as = "distances" },
  { type = "block", block = "encoder", from = "read", repeat = <encoder_layers>, name = "encoder" },
  { type = "rms_norm", name = "encoder.final_layer_norm" },
  { type = "dropout", as = "encoded" },

  { type = "start", input = [<tokens>], tokens = true },
  { type = "embedding", entries = <words>, out = <width>, weights = "words", name = "decoder.embed_tokens" },
  { type = "dropout", as = "written" },
  { type = "relative_bias", heads = <heads>, buckets = <buckets>, as = "distances_back" },
  { type = "block", block = "decoder", from = "written", repeat = <decoder_layers>, name = "decoder" },
  { type = "rms_norm", name = "decoder.final_layer_norm" },
  { type = "dropout" },
<scale>  { type = "linear", out = <words>, bias = false<tied>, name = "lm_head" },
  { type = "loss" },
]

[blocks.encoder]
layers = [
  { type = "add", branches = [
    [
      { type = "rms_norm" },
      { <attention>, relative = true, memory = "distances", name = "SelfAttention" },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "block", block = "feed_forward" },
]

[blocks.decoder]
layers = [
  { type = "add", branches = [
    [
      { type = "rms_norm" },
      { <attention>, relative = true, memory = "distances_back", name = "SelfAttention" },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "rms_norm" },
      { <attention>, mask = true, memory = "encoded", name = "EncDecAttention" },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "block", block = "feed_forward" },
]

[blocks.feed_forward]
layers = [
  { type = "add", branches = [
    [
      { type = "rms_norm" },
<inner_layers>      { type = "dropout" },
      { type = "linear", out = <width>, bias = false, name = "wo" },
      { type = "dropout" },
    ],
    [],
  ] },
]
)";

/// The attentions without the keys in which their uses differ.
constexpr const char* kT5Attention =
    "type = \"grouped_attention\", heads = <heads>, head_width = <head_width>, scaled = false, dropout = "
    "true";
constexpr const char* kWhisperAttention =
    "type = \"grouped_attention\", query_bias = true, value_bias = true, output_bias = true<fused>";

/// The first half of T5's feed-forward part: one matrix, or two of which one is the gate (version 1.1).
constexpr std::string_view kPlainInner =
    R"(      { type = "linear", out = <inner>, bias = false, name = "wi" },
      <activation>,
)";
constexpr std::string_view kGatedInner = R"(      { type = "multiply", branches = [
        [
          { type = "linear", out = <inner>, bias = false, name = "wi_0" },
          <activation>,
        ],
        [{ type = "linear", out = <inner>, bias = false, name = "wi_1" }],
      ] },
)";

// Whisper. Its input has frames of 10 ms; the second convolution halves their number. Keys have no bias.
constexpr std::string_view kWhisper = R"(description = "<title>, 30 s of speech, <tokens> tokens"
optimizer = "adamw"
input = [<bins>, 1, <frames>]
layers = [
  { type = "conv1d", out = <width>, kernel = 3, padding = 1, name = "encoder.conv1" },
  { type = "gelu" },
  { type = "conv1d", out = <width>, kernel = 3, stride = 2, padding = 1, name = "encoder.conv2" },
  { type = "gelu" },
  { type = "to_sequence" },
  { type = "position", trained = false, name = "encoder.embed_positions" },
<dropout>  { type = "block", block = "encoder", repeat = <encoder_layers>, name = "encoder.layers" },
  { type = "layer_norm", name = "encoder.layer_norm", as = "heard" },

  { type = "start", input = [<tokens>], tokens = true },
  { type = "embedding", entries = <words>, out = <width>, weights = "words", name = "decoder.embed_tokens" },
  { type = "position", entries = <positions>, name = "decoder.embed_positions" },
<dropout>  { type = "block", block = "decoder", repeat = <decoder_layers>, name = "decoder.layers" },
  { type = "layer_norm", name = "decoder.layer_norm" },
  { type = "linear", out = <words>, bias = false, weights = "words", name = "proj_out" },
  { type = "loss" },
]

[blocks.encoder]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { <attention>, heads = <encoder_heads>, name = "self_attn" },
<dropout_deeper>    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "linear", out = <encoder_inner> },
      <activation>,
      { type = "linear", out = <width> },
<dropout_deeper>    ],
    [],
  ] },
]

[blocks.decoder]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { <attention>, heads = <decoder_heads>, causal = true, name = "self_attn" },
<dropout_deeper>    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { <attention>, heads = <decoder_heads>, memory = "heard", name = "encoder_attn" },
<dropout_deeper>    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "linear", out = <decoder_inner> },
      <activation>,
      { type = "linear", out = <width> },
<dropout_deeper>    ],
    [],
  ] },
]
)";

/// Fills the feed-forward part by a word such as "relu" or "gated-gelu". T5's gated GELU is the tanh formula,
/// computed operator by operator, hence gelu_new.
void put_feed_forward(const ConfigSource& source, Filling& fill) {
  std::string form = source.values.word_or("feed_forward_proj", "relu");
  const bool is_gated = form.starts_with("gated-");
  if (is_gated) form = form.substr(6);
  if (is_gated && form == "gelu") form = "gelu_new";
  fill.put("activation", activation_layer(source, form));
  fill.put("inner_layers", std::string(is_gated ? kGatedInner : kPlainInner));
}

}  // namespace

/// Encoder and decoder have as many layers where num_decoder_layers is missing.
std::string write_t5(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t layers = values.size({"num_layers"});
  const bool tied = values.flag_or("tie_word_embeddings", true);
  // A bare T5Model counts as one with the head for the next word, with a remark.
  if (!source.architecture.empty() && !source.is_for("ForConditionalGeneration") &&
      !source.is_for("WithLMHead"))
    source.remarks.push_back(fmt::format("the head of {} is not known: taken as that for the next word",
                                         quotable(source.architecture)));
  Filling fill;
  fill.put("title", title_of(source)).put("width", values.size({"d_model"}));
  fill.put("tokens", source.tokens(values.size_or({"n_positions"}, kUsualT5Tokens), kUsualT5Tokens));
  fill.put("words", values.size({"vocab_size"})).put("heads", values.size({"num_heads"}));
  fill.put("head_width", values.size({"d_kv"})).put("inner", values.size({"d_ff"}));
  fill.put("buckets", values.size_or({"relative_attention_num_buckets"}, 32)).put("encoder_layers", layers);
  fill.put("decoder_layers", values.size_or({"num_decoder_layers"}, layers));
  // With a tied embedding T5 scales the decoder's result by the root of the width before the head.
  fill.put("scale", tied ? "  { type = \"scale\" },\n" : "").put("tied", tied ? ", weights = \"words\"" : "");
  fill.put("attention", kT5Attention);
  put_feed_forward(source, fill);
  return fill.into(kT5);
}

/// max_source_positions counts frames behind the convolutions, max_target_positions tokens.
std::string write_whisper(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"d_model"}), heard = values.size({"max_source_positions"}),
                     positions = values.size({"max_target_positions"});
  const bool drops = values.share_or("dropout", 0) > 0;
  Filling fill;
  // The convolutions halve the frames, so the spectrum has twice as many as the encoder has positions.
  fill.put("title", title_of(source)).put("width", width).put("frames", 2 * heard);
  fill.put("bins", values.size({"num_mel_bins"})).put("positions", positions);
  fill.put("tokens", source.tokens(positions, positions)).put("words", values.size({"vocab_size"}));
  fill.put("encoder_layers", values.size({"encoder_layers"}))
      .put("decoder_layers", values.size({"decoder_layers"}));
  fill.put("encoder_heads", values.size({"encoder_attention_heads"}));
  fill.put("decoder_heads", values.size({"decoder_attention_heads"}));
  fill.put("encoder_inner", values.size({"encoder_ffn_dim"}))
      .put("decoder_inner", values.size({"decoder_ffn_dim"}));
  fill.put("activation", activation_layer(source, values.word_or("activation_function", "gelu")));
  fill.put("fused", values.word_or("_attn_implementation", "sdpa") == "eager" ? "" : ", fused = true");
  fill.put("attention", kWhisperAttention);
  fill.put("dropout", drops ? "  { type = \"dropout\" },\n" : "");
  fill.put("dropout_deeper", drops ? "      { type = \"dropout\" },\n" : "");
  // Some tools count the table of positions as parameters although nothing trains it.
  source.remarks.push_back(
      fmt::format("the encoder's {} positions are sines that are not trained; counts of all parameters have "
                  "their {} elements, too",
                  heard, heard * width));
  return fill.into(kWhisper);
}

}  // namespace foretrain
