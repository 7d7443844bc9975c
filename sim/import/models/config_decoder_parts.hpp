// What the writers of decoders share: the network around the layers, bodies of a layer, runs of layers that
// are alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/models/config_families.hpp"

namespace foretrain {

/// Training on longer samples is asked for.
inline constexpr std::int64_t kUsualTokens = 2048;

/// Gaps that are empty where nothing is put: `before` and `after` the layers, `norm_keys`.
inline constexpr std::string_view kDecoder = R"(description = "<title>, <tokens> tokens"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, name = "embed_tokens"<tied> },
<before><layer_lines>  { type = "<norm>"<norm_keys>, name = "norm" },
<head><blocks>)";

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

inline constexpr std::string_view kPlainMlp =
    R"(      { type = "linear", out = <inner>, name = "dense_h_to_4h"<plain_keys> },
      <activation>,
      { type = "linear", out = <width>, name = "dense_4h_to_h"<plain_keys> },
)";

inline constexpr std::string_view kGatedMlp = R"(      { type = "multiply", branches = [
        [
          { type = "linear", out = <inner>, bias = <mlp_bias>, name = "gate_proj" },
          <activation>,
        ],
        [{ type = "linear", out = <inner>, bias = <mlp_bias>, name = "up_proj" }],
      ] },
      { type = "linear", out = <width>, bias = <mlp_bias>, name = "down_proj" },
)";

/// "true", "false".
const char* word_of(bool flag);
std::string title_of(const ConfigSource& source);
/// Whether attention is one fused kernel (sdpa, the default since 4.36): unless the config asks for eager.
bool is_fused(const ConfigSource& source);
/// Which head the config's architecture has, with its loss: the next word where it says nothing.
std::string head_of(const ConfigSource& source, Filling& fill);
void put_tied(const ConfigSource& source, Filling& fill, bool otherwise);
/// What all decoders have: their width, the type of their norms, whether embedding and head share a weight
/// where the config does not say.
struct DecoderForm {
  std::int64_t width = 1;
  std::string_view norm = "rms_norm";
  bool usually_tied = false;
};
/// Title, tokens of a sample, words, width, norm, head; all other gaps of kDecoder empty.
void put_decoder(const ConfigSource& source, Filling& fill, const DecoderForm& form);
/// grouped_attention as Llama's kin has it, `more` keys behind its sizes.
std::string llama_attention(const ConfigSource& source, std::int64_t width, std::string_view more = "");

/// A layer of a decoder: its block, and what its parameters are.
struct DecoderLayer {
  std::string block = "decoder", with;
  friend bool operator==(const DecoderLayer&, const DecoderLayer&) = default;
};
/// One line for each run of layers that are alike. Alone it is called "layers", otherwise "layers_7" by its
/// first layer, or "layers.7" where it is one.
std::string layer_lines(const std::vector<DecoderLayer>& layers);
/// num_hidden_layers, at most as many as a list of them may have.
std::int64_t listed_layers(const ConfigSource& source);

/// "\n[blocks.NAME]\nlayers = [\n…]\n".
std::string block_text(std::string_view name, std::string_view body);

}  // namespace foretrain
