// The sizes of multi-head attention, and the steps that its variants share.
#pragma once

#include <vector>

#include "sim/workload/layers/layer.hpp"
#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// Per sample: `queries` rows look at `keys` rows, with `heads` heads of `head_width` elements.
struct AttentionSize {
  std::int64_t queries = 0, keys = 0, heads = 0, head_width = 0;

  std::int64_t width() const { return heads * head_width; }
  double scores() const { return static_cast<double>(heads * queries) * static_cast<double>(keys); }
  double query_elements() const { return static_cast<double>(queries * width()); }
  double key_elements() const { return static_cast<double>(keys * width()); }
  /// One batched product, q k^T as well as every other: 2 a s_q s_k d FLOPs.
  double product_flops() const { return 2 * scores() * static_cast<double>(head_width); }
  double product_bytes() const { return 4 * (query_elements() + key_elements() + scores()); }
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
};

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
TensorId record_eager_attention(Tape& tape, const SequenceFields& fields, const AttentionSize& size,
                                const Heads& heads);
TensorId record_fused_attention(Tape& tape, const SequenceFields& fields, const AttentionSize& size,
                                const Heads& heads);

}  // namespace foretrain
