// Sizes of a transformer language model's layers, and the parameters and FLOPs that follow from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/workload/layers/layer.hpp"

namespace foretrain {

/// Feed-forward parts of a layer, to some of which each token is sent (Mixtral, DeepSeek, Qwen3).
struct ExpertLayers {
  int experts = 8;
  int top_k = 2;           ///< experts that a token is sent to
  int shared = 0;          ///< experts of the same width that every token passes
  std::int64_t width = 0;  ///< inner width of one expert
  int dense_layers = 0;    ///< the first layers, with the dense part of TransformerShape::inner
  /// Behind the dense layers, one layer in this many has experts.
  int every = 1;
  friend bool operator==(const ExpertLayers&, const ExpertLayers&) = default;
};

/// Multi-head latent attention (DeepSeek-V2): ranks of the low-rank projections and sizes of a head.
struct LatentAttention {
  std::int64_t query_rank = 1536;  ///< 0: queries are projected directly
  std::int64_t key_value_rank = 512;
  /// Elements of a head.
  std::int64_t rope_dim = 64, plain_dim = 128, value_dim = 128;
  std::int64_t query_dim() const { return rope_dim + plain_dim; }
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Sizes of a transformer, with the names that papers and configuration files use.
struct TransformerShape {
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t inner = 0;  ///< width of the dense feed-forward part
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;   ///< tokens of a sample, where nobody says otherwise
  std::int64_t positions = 0;  ///< rows of a learned table of positions; 0: none
  bool gated = true;           ///< two matrices up and one down (SwiGLU, GeGLU), else one and one
  /// Linear layers and norms have a bias.
  bool bias = false;
  bool tied = false;  ///< the head uses the embedding's matrix
  bool causal = true;
  bool head_norms = false;  ///< queries and keys have a norm over each head (Qwen3)
  std::optional<ExpertLayers> experts{};
  std::optional<LatentAttention> latent{};
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

/// Numbers of trained values, by part.
struct ParameterCount {
  /// Tables of words and, where there is one, of positions.
  std::int64_t embedding = 0;
  std::int64_t head = 0;  ///< final norm and head, its matrix even where it is the embedding's
  /// Attention of a layer, with both norms.
  std::int64_t attention = 0;
  std::int64_t dense = 0;  ///< the feed-forward part of a dense layer
  std::int64_t one_expert = 0, router = 0;
  /// A norm, which tensor ranks do not cut.
  std::int64_t norm = 0;
  /// Sum of all values, a tied matrix once; and of those that a token passes.
  std::int64_t total = 0, active = 0;
};
/// Returns the numbers of trained values of a transformer.
ParameterCount parameters_of(const TransformerShape& shape);

/// True when layer `layer`, counted from 0, sends its tokens to experts.
bool has_experts(const TransformerShape& shape, int layer);
/// Returns the number of layers with experts.
int expert_layers_of(const TransformerShape& shape);

/// Returns the FLOPs of a forward pass per token, 2 per multiply-add. They are those of linear layers that
/// the token passes, of the head, and of attention. Attention is over the whole sequence or, when `halved`,
/// over the half that a causal mask leaves.
double forward_flops_per_token(const TransformerShape& shape, std::int64_t sequence, bool halved);

/// The result of recognition. A recognized network is a stack of equal decoder or encoder blocks between an
/// embedding and a linear head, as models/llama3_8b.toml is. `why_not` says what in another network is
/// different.
struct RecognizedTransformer {
  std::optional<TransformerShape> shape;
  std::string why_not;  ///< empty with a shape
};
/// Looks for a transformer in the layers of a network. Recorded networks have none.
RecognizedTransformer recognize_transformer(const Model& model);  // recognize.cpp

/// The encoding of positions in a network without a table of positions.
enum class Positions : std::uint8_t { rotary, alibi };

/// Returns the network of such sizes as frameworks build it: decoder blocks with fused attention over
/// `sequence` tokens. Norms are RMSNorm where the feed-forward part is gated, and layer norms otherwise.
/// recognize_transformer() finds the sizes again. Returns nothing for experts and latent attention.
std::optional<Model> network_of(const TransformerShape& shape, std::int64_t sequence,
                                Positions positions);  // network_of_shape.cpp

}  // namespace foretrain
