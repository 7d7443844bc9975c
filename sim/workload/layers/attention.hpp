// Sizes of multi-head attention, and the operators that its variants share.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// The way in which attention's projections are written. It decides the parameters, their order and the
/// copies between products.
enum class Projection : std::uint8_t {
  separate,  ///< query, key, value: three products; scores are scaled (BERT)
  packed,    ///< one product of three times the width, split by views; scores are scaled (GPT-2)
  /// A single product whose bias is added apart; queries are scaled (torch.nn.MultiheadAttention without
  /// SDPA).
  module
};

/// Options of a layer of multi-head attention, as the model file gives them. Requires that `heads` divides
/// `width`.
struct Attention {
  std::int64_t heads = 0;
  /// Width of all heads together; 0: the input's.
  std::int64_t width = 0;
  Projection projection = Projection::separate;
  /// Every projection has a bias.
  bool bias = true;
  /// False: the output projection alone has a bias.
  bool qkv_bias = true;
  /// Scores are divided by the root of the head's width.
  bool scaled = true;
  /// A mask is added to the scores.
  bool mask = false;
  bool causal = false;  ///< scores above the diagonal are overwritten
  /// Weights pass a dropout.
  bool dropout = false;
  bool fused = false;       ///< one kernel forward, recomputation backward; nothing of size s^2 is kept
  bool alibi = false;       ///< a slope for each head times the distance is added to the scores
  std::int64_t window = 0;  ///< keys that a causal query sees, itself included; 0: all before it
};

/// Sizes of one sample: `queries` rows attend to `keys` rows, with `heads` heads of `head_width` elements.
struct AttentionSize {
  std::int64_t queries = 0, keys = 0, heads = 0, head_width = 0;
  /// Width of a head's values; 0: that of its queries and keys.
  std::int64_t value_width = 0;

  std::int64_t value_head() const { return value_width > 0 ? value_width : head_width; }
  std::int64_t width() const { return heads * head_width; }
  std::int64_t context_width() const { return heads * value_head(); }
  double scores() const { return static_cast<double>(heads * queries) * static_cast<double>(keys); }
  double query_elements() const { return static_cast<double>(queries * width()); }
  double key_elements() const { return static_cast<double>(keys * width()); }
  double value_elements() const { return static_cast<double>(keys * context_width()); }
  double context_elements() const { return static_cast<double>(queries * context_width()); }
  /// Returns the FLOPs of one batched product, q k^T as well as every other: 2 a s_q s_k d.
  double product_flops() const { return 2 * scores() * static_cast<double>(head_width); }
  double product_bytes() const { return 4 * (query_elements() + key_elements() + scores()); }
  /// Returns the sizes with values in place of queries and keys: for weights times values, and its two
  /// products of backward.
  AttentionSize of_values() const { return {queries, keys, heads, value_head()}; }
  Shape score_shape() const { return Shape::sequence(heads * queries, keys); }

  Product makes_scores() const { return product(queries, keys, head_width); }
  Product makes_query_rows() const { return product(queries, head_width, keys); }
  Product makes_key_rows() const { return product(keys, head_width, queries); }

 private:
  Product product(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

/// Queries, keys and values, seen head by head.
struct Heads {
  TensorId q = 0, k = 0, v = 0;
  std::optional<TensorId> bias{};  ///< trained, of the scores' size: added to them
};

/// Puts trained keys and values in front of the others and enlarges `size` by them. Does so where the
/// fine-tuning is prefix tuning and queries attend to their own sequence.
void add_prefix(Tape& tape, AttentionSize& size, Heads& heads);
/// Returns one call of up to two batched products of one size.
Operator batched_products(const AttentionSize& size, const std::vector<Product>& products);
/// Returns one call of `count` copies of `elements` elements in all.
Operator copy_of(double elements, int count = 1);
/// Returns one pass over `elements` elements that reads and writes each: a scaling, a mask, a bias.
Operator pass_over(double elements, HostCall call);
/// Returns the backward step of an operator without parameters.
BackwardStep backward_of(const Operator& op);

/// Records softmax(q k^T) v with everything between, and returns the context. The eager form has separate
/// operators, the fused form one kernel each way, whose causal variant skips half of the scores.
TensorId record_eager_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads);
/// The fused form; `own.fused` is not read by either function.
TensorId record_fused_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads);
/// Records the copy that puts the context's heads side by side again.
TensorId record_merged_heads(Tape& tape, const AttentionSize& size, TensorId context);

/// Records the rotation of `turned` elements of the rows by their position (RoPE). Where that is a part of
/// each head, the part is cut off before and joined again after.
TensorId record_rotary(Tape& tape, TensorId rows, double turned);

}  // namespace foretrain
