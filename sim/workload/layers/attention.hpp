// The sizes of multi-head attention, and the steps that its variants share.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// How attention's projections are written, which decides its parameters, their order and the copies between
/// products.
enum class Projection : std::uint8_t {
  separate,  ///< query, key, value: three products; scores are scaled (BERT)
  packed,    ///< one product of three times the width, split by views; scores are scaled (GPT-2)
  /// One product whose bias is added apart, queries are scaled (torch.nn.MultiheadAttention without SDPA)
  module
};

/// Options of a layer of multi-head attention, as the model file gives them. Requires that `heads` divides
/// `width`.
struct Attention {
  std::int64_t heads = 0;
  std::int64_t width = 0;  ///< of all heads; 0: the input's
  Projection projection = Projection::separate;
  bool bias = true;         ///< of all projections
  bool qkv_bias = true;     ///< otherwise only the output projection has one
  bool scaled = true;       ///< scores are divided
  bool mask = false;        ///< one is added
  bool causal = false;      ///< scores above the diagonal are overwritten
  bool dropout = false;     ///< of the weights
  bool fused = false;       ///< one kernel forward, recomputation backward; nothing of size s^2 is kept
  bool alibi = false;       ///< a slope for each head times the distance is added to the scores
  std::int64_t window = 0;  ///< keys that a causal query sees, itself included; 0: all before it
};

/// Per sample: `queries` rows look at `keys` rows, with `heads` heads of `head_width` elements.
struct AttentionSize {
  std::int64_t queries = 0, keys = 0, heads = 0, head_width = 0;
  std::int64_t value_width = 0;  ///< of a head's values; 0: as of its queries and keys

  std::int64_t value_head() const { return value_width > 0 ? value_width : head_width; }
  std::int64_t width() const { return heads * head_width; }
  std::int64_t context_width() const { return heads * value_head(); }
  double scores() const { return static_cast<double>(heads * queries) * static_cast<double>(keys); }
  double query_elements() const { return static_cast<double>(queries * width()); }
  double key_elements() const { return static_cast<double>(keys * width()); }
  double value_elements() const { return static_cast<double>(keys * context_width()); }
  double context_elements() const { return static_cast<double>(queries * context_width()); }
  /// One batched product, q k^T as well as every other: 2 a s_q s_k d FLOPs.
  double product_flops() const { return 2 * scores() * static_cast<double>(head_width); }
  double product_bytes() const { return 4 * (query_elements() + key_elements() + scores()); }
  /// The same with values in place of queries and keys: weights times values, and its two of backward.
  AttentionSize of_values() const { return {queries, keys, heads, value_head()}; }
  Shape score_shape() const { return Shape::sequence(heads * queries, keys); }

  Product makes_scores() const { return product(queries, keys, head_width); }
  Product makes_query_rows() const { return product(queries, head_width, keys); }
  Product makes_key_rows() const { return product(keys, head_width, queries); }

 private:
  Product product(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

/// Queries, keys and values with their heads apart.
struct Heads {
  TensorId q = 0, k = 0, v = 0;
  std::optional<TensorId> bias{};  ///< trained, of the scores' size: added to them
};

/// Trained keys and values in front of the others, where the fine-tuning is prefix tuning and queries look at
/// their own sequence; `size` has them then.
void add_prefix(Tape& tape, AttentionSize& size, Heads& heads);
/// Up to two batched products of one size behind one call.
Operator batched_products(const AttentionSize& size, const std::vector<Product>& products);
/// `count` copies of `elements` in all.
Operator copy_of(double elements, int count = 1);
/// One pass over `elements`, reading and writing each: a scaling, a mask, a bias.
Operator pass_over(double elements, HostCall call);
/// Backward of an operator without parameters.
BackwardStep backward_of(const Operator& op);

/// softmax(q k^T) v with everything between, as separate operators (eager) or as one kernel each way (fused;
/// causal skips half).
TensorId record_eager_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads);
TensorId record_fused_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads);
/// The context's heads side by side again.
TensorId record_merged_heads(Tape& tape, const AttentionSize& size, TensorId context);

/// `turned` elements of the rows are turned by position; where that is a part of each head, it is cut off
/// before and joined after.
TensorId record_rotary(Tape& tape, TensorId rows, double turned);

}  // namespace foretrain
