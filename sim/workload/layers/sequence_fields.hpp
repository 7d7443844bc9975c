// What layers over sequences say beyond the fields that all layers share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrain {

/// Most channels, features or entries of a layer.
inline constexpr std::int64_t kWidestLayer = 1'000'000'000;

/// How attention's projections are written, which decides its parameters, their order and the copies between
/// products.
enum class Projection : std::uint8_t {
  separate,  ///< query, key, value: three products; scores are scaled (BERT)
  packed,    ///< one product of three times the width, split by views; scores are scaled (GPT-2)
  module  ///< one product whose bias is added apart, queries are scaled (torch.nn.MultiheadAttention without
          ///< SDPA)
};

/// 0, false or empty: not given.
///   attention: projection, mask (one is added), causal (scores above the diagonal are overwritten), dropout
///   (of the weights),
///     fused (one kernel forward, recomputation backward; nothing of size s^2 is kept), width (of all heads;
///     the input's by default), `memory` (the name of the result that keys and values come from; Layer::with)
///   relative_attention: memory_length (cached tokens), dropout · window_attention: window, shift (of an
///   image's tokens) additive_attention, location_attention: width (units), `memory` lstm, gru: width (of one
///   direction), layers, bidirectional · position: entries (a table is looked up), trained linear: bias_apart
///   (added by an operator of its own) · parameter: part ("weight" or "bias" of the layers that share it)
///   attention: qkv_bias = false (only the output projection has one), scaled = false (scores are not
///   divided) embedding: sparse (the gradient is of the rows looked up) · adaptive_embedding,
///   adaptive_softmax: cutoffs, shares, divide any: steps > 1, run row by row in a loop of the script
struct SequenceFields {
  Projection projection = Projection::separate;
  std::int64_t width = 0, layers = 1, window = 0, shift = 0, memory_length = 0, steps = 1;
  bool mask = false, causal = false, dropout = false, fused = false, bidirectional = false,
       bias_apart = false, sparse = false, trained = true;
  bool qkv_bias = true, scaled = true;
  std::int64_t divide = 1;
  std::vector<std::int64_t> cutoffs, shares;
  std::string part = "weight";
};

}  // namespace foretrain
