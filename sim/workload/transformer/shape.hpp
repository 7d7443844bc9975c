// What a transformer language model is made of: the sizes of its layers, and how many parameters that is.
#pragma once

#include <cstdint>
#include <optional>

namespace foretrain {

/// Feed-forward parts of a layer that tokens are sent to (Mixtral, DeepSeek, Qwen3).
struct ExpertLayers {
  int experts = 8;
  int top_k = 2;           ///< experts that a token is sent to
  int shared = 0;          ///< experts that every token passes, of the same width
  std::int64_t width = 0;  ///< inner width of one expert
  int dense_layers = 0;    ///< the first layers, with the dense feed-forward part of TransformerShape::inner
  int every = 1;           ///< one layer in so many has experts, the others are dense
  double capacity_factor = 0;  ///< 0: no token is dropped
  double imbalance = 1;        ///< tokens of the busiest rank over the mean
  friend bool operator==(const ExpertLayers&, const ExpertLayers&) = default;
};

/// Multi-head latent attention (DeepSeek-V2): ranks of the low-rank projections and sizes of a head.
struct LatentAttention {
  std::int64_t query_rank = 1536;  ///< 0: queries are projected directly
  std::int64_t key_value_rank = 512;
  std::int64_t rope_dim = 64, plain_dim = 128, value_dim = 128;  ///< of a head
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

enum class NormKind : std::uint8_t { rms, layer };  ///< one vector of weights, or weights and bias
enum class PositionKind : std::uint8_t { rotary, learned, alibi };  ///< learned: a table of `positions` rows

/// Sizes as the papers and configuration files name them; linear layers of `hidden` x `heads * head_dim` etc.
struct TransformerShape {
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t inner = 0;  ///< width of the dense feed-forward part
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;   ///< tokens of a sample, where nobody says otherwise
  std::int64_t positions = 0;  ///< rows of a learned table
  PositionKind position = PositionKind::rotary;
  NormKind norm = NormKind::rms;
  int norms_per_layer = 2;  ///< Gemma 2 and 3: 4
  bool final_norm = true;
  bool embedding_norm = false;        ///< BLOOM
  bool gated = true;                  ///< SwiGLU or GeGLU: two matrices up, one down
  bool bias = false;                  ///< of all linear layers
  bool query_key_value_bias = false;  ///< of these alone (Qwen2)
  bool query_key_norm = false;        ///< over a head's values (Qwen3, Gemma 3)
  bool tied = false;                  ///< the head uses the embedding's matrix
  bool one_norm_for_both = false;     ///< attention and feed-forward part read the same normed input (Falcon)
  int token_predictors = 0;           ///< multi-token prediction layers beside the network (DeepSeek-V3)
  std::optional<ExpertLayers> experts{};
  std::optional<LatentAttention> latent{};
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

/// Trained values. `active`: those that a token passes.
struct ParameterCount {
  std::int64_t embedding = 0;                      ///< with a learned table of positions and the norm behind
  std::int64_t head = 0;                           ///< final norm and head; of a tied head only the norm
  std::int64_t dense_layer = 0, expert_layer = 0;  ///< one of each
  std::int64_t attention = 0;                      ///< of a layer, with its norms
  std::int64_t one_expert = 0;
  std::int64_t total = 0, active = 0;
};
ParameterCount parameters_of(const TransformerShape& shape);

/// Layers with experts; the others are dense.
int expert_layers_of(const TransformerShape& shape);
bool layer_has_experts(const TransformerShape& shape, int layer);

}  // namespace foretrain
