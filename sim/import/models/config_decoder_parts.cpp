// Fills what the templates of all decoders share: head, tied embedding, attention, and the list of layers.
//
// A template is a model file in TOML with gaps such as <width>. Writers fill the gaps from the config; the
// layers are named as the modules in PyTorch, so that parameters are registered in the same order.
#include "sim/import/models/config_decoder_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Layers that one list may hold where they differ; no published network is deeper.
constexpr std::int64_t kMostListed = 1000;

/// The head of a language model: logits of all words, shifted by one token, and their loss.
constexpr std::string_view kNextWord =
    R"(  { type = "linear", out = <words>, bias = false<tied>, name = "lm_head" },
<soft_cap>  { type = "shift" },
  { type = "loss" },
)";
/// The head for classes of a text. It reads one token of the sequence.
constexpr std::string_view kClasses = R"(  { type = "linear", out = <labels>, bias = false, name = "score" },
  { type = "first_token" },
  { type = "loss" },
)";

/// Returns the elements of an attention head where the config has no head_dim: the default of the family's
/// configuration class, otherwise the width divided by the number of heads.
std::int64_t usual_head(const ConfigSource& source, std::int64_t width, std::int64_t heads) {
  if (source.model_type.starts_with("gemma")) return 256;
  if (source.model_type.starts_with("qwen3") || source.model_type == "llama4_text") return 128;
  return std::max<std::int64_t>(1, width / heads);
}

}  // namespace

const char* word_of(bool flag) { return flag ? "true" : "false"; }

std::string alike_layers(Filling& fill, std::int64_t layers, std::string_view body) {
  fill.put("layer_lines",
           fmt::format("  {{ type = \"block\", block = \"decoder\", repeat = {}, name = \"layers\" }},\n",
                       layers));
  fill.put("blocks", block_text("decoder", body));
  return fill.into(kDecoder);
}

std::string title_of(const ConfigSource& source) {
  return quotable(source.architecture.empty() ? source.model_type : source.architecture);
}

// Both keys are in use; a config without either is trained with sdpa.
bool is_fused(const ConfigSource& source) {
  const std::string words =
      source.values.word_or("_attn_implementation", source.values.word_or("attn_implementation", "sdpa"));
  return words != "eager";
}

/// Chooses by the name of the architecture. A bare "...Model" has no head; what is not known counts as a
/// language model, with a remark.
std::string head_of(const ConfigSource& source, Filling& fill) {
  if (source.is_for("ForSequenceClassification")) {
    fill.put("labels", source.labels()).put("tied", "");
    return std::string(kClasses) + "]\n";
  }
  if (source.architecture.ends_with("Model") && !source.is_for("LMHead") && !source.is_for("DoubleHeads")) {
    fill.put("tied", "");
    return loss_without_head(source) + "]\n";
  }
  if (!source.is_for("ForCausalLM") && !source.is_for("LMHead"))
    source.remarks.push_back(source.architecture.empty()
                                 ? "the config names no architecture: taken with the head for the next word"
                                 : fmt::format("the head of {} is not known: taken as that for the next word",
                                               quotable(source.architecture)));
  return std::string(kNextWord) + "]\n";
}

/// Layers with one name in `weights` share their parameters.
void put_tied(const ConfigSource& source, Filling& fill, bool otherwise) {
  const bool tied = source.values.flag_or("tie_word_embeddings", otherwise);
  fill.put("tied", tied ? ", weights = \"words\"" : "");
}

/// Reads the numbers that every decoder has. The order of the reads is the order of the missing keys in a
/// report.
void put_decoder(const ConfigSource& source, Filling& fill, const DecoderForm& form) {
  ConfigValues& values = source.values;
  fill.put("title", title_of(source)).put("norm", std::string(form.norm)).put("width", form.width);
  const std::int64_t most = values.size_or(
      {"max_position_embeddings", "max_sequence_length", "max_seq_len", "seq_length"}, kUsualTokens);
  fill.put("tokens", source.tokens(most, kUsualTokens)).put("words", values.size({"vocab_size"}));
  fill.put("before", "").put("norm_keys", "").put("plain_keys", "").put("soft_cap", "");
  put_tied(source, fill, form.usually_tied);
  fill.put("head", head_of(source, fill));
}

/// Writes the attention of Llama and of the families built like it. They differ in the width of a head, in
/// biases, in the share of a head that is rotated, and in a norm of queries and keys (Qwen 3).
std::string llama_attention(const ConfigSource& source, std::int64_t width, std::string_view more) {
  ConfigValues& values = source.values;
  const std::int64_t heads = values.size({"num_attention_heads"});
  const std::int64_t given = values.size_or({"head_dim"}, 0);
  const std::int64_t usual = usual_head(source, width, heads);
  const std::int64_t head_width = given > 0 ? given : usual;
  const bool is_qwen2 = source.model_type.starts_with("qwen2");
  const bool has_inner_bias = is_qwen2 || values.flag_or("use_qkv_bias", false);
  const bool bias = values.flag_or("attention_bias", false) || source.model_type == "phi" ||
                    (source.model_type == "internlm" && values.flag_or("bias", true));
  // Only the usual width depends on this division: a given head_dim may differ from width / heads.
  if (given == 0 && usual * heads < width && width % heads != 0)
    values.refuse("num_attention_heads", fmt::format("{} heads do not divide hidden_size {}", heads, width));
  // Elements of a head that rotary embeddings turn; some families turn a part of them.
  const auto turned = static_cast<std::int64_t>(values.share_or("partial_rotary_factor", 1) *
                                                static_cast<double>(head_width));
  const std::string rotary =
      more.find("rotary") == std::string_view::npos && turned > 0 ? fmt::format(", rotary = {}", turned) : "";
  return fmt::format(
      "{{ type = \"grouped_attention\", heads = {}, groups = {}, head_width = {}{}{}{}{}{}, causal = "
      "true{}{}, "
      "name = \"self_attn\" }}",
      heads, values.size_or({"num_key_value_heads"}, heads), head_width, rotary, more,
      has_inner_bias || bias ? ", query_bias = true, key_bias = true, value_bias = true" : "",
      bias ? ", output_bias = true" : "",
      source.model_type.starts_with("qwen3") ? ", norm = true"
      : source.model_type == "phi3"          ? ", packed = true"
                                             : "",
      is_fused(source) ? ", fused = true" : "",
      // A fused kernel drops scores inside itself, so only plain attention has a dropout of its own.
      values.share_or("attention_dropout", 0) > 0 && !is_fused(source) ? ", dropout = true" : "");
}

/// Merges runs of equal layers into one line with `repeat`, which keeps the file short and the simulation
/// fast.
std::string layer_lines(const std::vector<DecoderLayer>& layers) {
  std::string out;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t next = first + 1;
    while (next < layers.size() && layers[next] == layers[first]) ++next;
    const std::size_t count = next - first;
    const std::string name = count == layers.size() && count > 1 ? "layers"
                             : count > 1                         ? fmt::format("layers_{}", first)
                                                                 : fmt::format("layers.{}", first);
    out += fmt::format("  {{ type = \"block\", block = \"{}\"{}{}, name = \"{}\" }},\n", layers[first].block,
                       count > 1 ? fmt::format(", repeat = {}", count) : "",
                       layers[first].with.empty() ? "" : fmt::format(", with = {{ {} }}", layers[first].with),
                       name);
    first = next;
  }
  return out;
}

/// A hostile number of layers would otherwise make a list of that length.
std::int64_t listed_layers(const ConfigSource& source) {
  const std::int64_t layers = source.values.size({"num_hidden_layers"});
  if (layers <= kMostListed) return layers;
  source.values.refuse("num_hidden_layers", fmt::format("{} layers are too many", layers),
                       fmt::format("{} at most where layers differ", kMostListed));
  return 1;
}

std::string block_text(std::string_view name, std::string_view body) {
  return fmt::format("\n[blocks.{}]\nlayers = [\n{}]\n", name, body);
}

}  // namespace foretrain
