// What a transformer language model is made of: the sizes of its layers, and how many parameters that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/workload/layers/layer.hpp"

namespace foretrain {

/// Feed-forward parts of a layer that tokens are sent to (Mixtral, DeepSeek, Qwen3).
struct ExpertLayers {
  int experts = 8;
  int top_k = 2;           ///< experts that a token is sent to
  int shared = 0;          ///< experts of the same width that every token passes
  std::int64_t width = 0;  ///< inner width of one expert
  int dense_layers = 0;    ///< the first layers, with the dense part of TransformerShape::inner
  int every = 1;           ///< of the layers behind them one in so many has experts
  friend bool operator==(const ExpertLayers&, const ExpertLayers&) = default;
};

/// Multi-head latent attention (DeepSeek-V2): ranks of the low-rank projections and sizes of a head.
struct LatentAttention {
  std::int64_t query_rank = 1536;  ///< 0: queries are projected directly
  std::int64_t key_value_rank = 512;
  std::int64_t rope_dim = 64, plain_dim = 128, value_dim = 128;  ///< of a head
  std::int64_t query_dim() const { return rope_dim + plain_dim; }
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Sizes as papers and configuration files name them.
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
  bool bias = false;           ///< of linear layers, and of the norms
  bool tied = false;           ///< the head uses the embedding's matrix
  bool causal = true;
  bool head_norms = false;  ///< queries and keys have a norm over each head (Qwen3)
  std::optional<ExpertLayers> experts{};
  std::optional<LatentAttention> latent{};
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

/// Trained values.
struct ParameterCount {
  std::int64_t embedding = 0;  ///< with a learned table of positions
  std::int64_t head = 0;       ///< final norm and head, its matrix even where it is the embedding's
  std::int64_t attention = 0;  ///< of a layer, with both norms
  std::int64_t dense = 0;      ///< the feed-forward part of a dense layer
  std::int64_t one_expert = 0, router = 0;
  std::int64_t norm = 0;               ///< of one norm, which tensor ranks do not cut
  std::int64_t total = 0, active = 0;  ///< a tied matrix once; those that a token passes
};
ParameterCount parameters_of(const TransformerShape& shape);

/// Whether layer `layer`, from 0, sends its tokens to experts.
bool has_experts(const TransformerShape& shape, int layer);
int expert_layers_of(const TransformerShape& shape);

/// FLOPs of a forward pass per token, 2 per multiply-add: linear layers that the token passes, head, and
/// attention over the whole sequence or, `halved`, over the half that a causal mask leaves.
double forward_flops_per_token(const TransformerShape& shape, std::int64_t sequence, bool halved);

/// A network that is a stack of equal decoder or encoder blocks between an embedding and a linear head, as
/// models/llama3_8b.toml is; what in it is not is said in `why_not`.
struct RecognizedTransformer {
  std::optional<TransformerShape> shape;
  std::string why_not;  ///< empty with a shape
};
RecognizedTransformer recognize_transformer(const Model& model);  // recognize.cpp

/// How a network tells places in a sequence that has no table of positions.
enum class Positions : std::uint8_t { rotary, alibi };

/// The network of such sizes as frameworks build it: decoder blocks with fused attention over `sequence`
/// tokens; RMSNorm where the feed-forward part is gated, else layer norms. recognize_transformer() finds the
/// shape again. Nothing for experts and latent attention.
std::optional<Model> network_of(const TransformerShape& shape, std::int64_t sequence,
                                Positions positions);  // network_of_shape.cpp

}  // namespace foretrain
