// Declares what the writers of decoders share: the network around the layers, bodies of a layer, and runs of
// equal layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/models/config_families.hpp"

namespace foretrain {

/// Tokens of a sample, at most, where the user does not say; longer samples need --sequence.
inline constexpr std::int64_t kUsualTokens = 2048;

/// The model file of a decoder. put_decoder() fills title, tokens, words, width and norm and leaves <before>
/// (what stands ahead of the layers) and <norm_keys> empty; the writer puts <layer_lines> and <blocks>.
inline constexpr std::string_view kDecoder = R"(description = "<title>, <tokens> tokens"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, name = "embed_tokens"<tied> },
<before><layer_lines>  { type = "<norm>"<norm_keys>, name = "norm" },
<head><blocks>)";

/// The body of a layer with attention and perceptron one after the other, each behind a norm and beside a
/// residual connection (pre-norm, as in Llama).
inline constexpr std::string_view kInSeries = R"(  { type = "add", branches = [
    [
      { type = "<norm>"<norm_keys>, name = "input_layernorm" },
      <attention>,
    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "<norm>"<norm_keys>, name = "post_attention_layernorm" },
<mlp>    ],
    [],
  ] },
)";

/// A perceptron of two matrices, as in GPT-NeoX, Falcon and BLOOM.
inline constexpr std::string_view kPlainMlp =
    R"(      { type = "linear", out = <inner>, name = "dense_h_to_4h"<plain_keys> },
      <activation>,
      { type = "linear", out = <width>, name = "dense_4h_to_h"<plain_keys> },
)";

/// A perceptron with a gate: the activation of one matrix times another one, as in Llama.
inline constexpr std::string_view kGatedMlp = R"(      { type = "multiply", branches = [
        [
          { type = "linear", out = <inner>, bias = <mlp_bias>, name = "gate_proj" },
          <activation>,
        ],
        [{ type = "linear", out = <inner>, bias = <mlp_bias>, name = "up_proj" }],
      ] },
      { type = "linear", out = <width>, bias = <mlp_bias>, name = "down_proj" },
)";

/// Returns "true" or "false", as TOML writes them.
const char* word_of(bool flag);
/// Returns the architecture, or the model_type where the config names none, fit for quotes in TOML.
std::string title_of(const ConfigSource& source);
/// Returns whether attention is one fused kernel. It is (sdpa, the default since transformers 4.36) unless
/// the config asks for "eager".
bool is_fused(const ConfigSource& source);
/// Returns the head of the config's architecture with its loss and the end of the list of layers. It fills
/// the gaps that the head needs. An unknown or missing architecture predicts the next word, with a remark.
std::string head_of(const ConfigSource& source, Filling& fill);
/// Fills <tied>: embedding and head share one weight where tie_word_embeddings is true. `otherwise` holds
/// where the config does not say.
void put_tied(const ConfigSource& source, Filling& fill, bool otherwise);
/// Describes what the decoders of all families have.
struct DecoderForm {
  /// Elements of a token's vector.
  std::int64_t width = 1;
  /// Layer type of the norms in a model file.
  std::string_view norm = "rms_norm";
  /// Default of tie_word_embeddings in this family.
  bool usually_tied = false;
};
/// Fills title, tokens of a sample, words, width, norm and head. The optional gaps (<before>, <norm_keys>,
/// <plain_keys>, <soft_cap>) become empty.
void put_decoder(const ConfigSource& source, Filling& fill, const DecoderForm& form);
/// Returns the layer grouped_attention for Llama and its relatives. `width` is that of a token; `more` holds
/// further keys, such as ", window = 4096". Refuses a number of heads that does not divide the width.
std::string llama_attention(const ConfigSource& source, std::int64_t width, std::string_view more = "");

/// A layer of a decoder: the name of its block, and the arguments (`with`) that the block gets.
struct DecoderLayer {
  std::string block = "decoder", with;
  friend bool operator==(const DecoderLayer&, const DecoderLayer&) = default;
};
/// Returns one line for each run of equal layers. The only run is called "layers", one of several "layers_7"
/// after its first layer, and a run of one layer "layers.7".
std::string layer_lines(const std::vector<DecoderLayer>& layers);
/// Completes a decoder whose layers are all alike, with this body of the block.
std::string alike_layers(Filling& fill, std::int64_t layers, std::string_view body);
/// Returns num_hidden_layers. Refuses more than 1000 and returns 1 then.
std::int64_t listed_layers(const ConfigSource& source);

/// Returns the table of a block: "\n[blocks.NAME]\nlayers = [\n…]\n".
std::string block_text(std::string_view name, std::string_view body);

}  // namespace foretrain
