// Rules of attention as one kernel each way, by whichever library. The work is that of
// sim/workload/layers/scaled_dot_product.cpp, from the sizes of queries, keys and values [batch, heads, rows,
// width of a head].
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Sizes of a fused attention, where `heads` counts those of all samples; `share` is what a causal mask
/// leaves.
struct FusedSizes {
  double heads = 0, queries = 0, keys = 0, width = 0, share = 1;

  double product_flops() const { return 2 * heads * queries * keys * width; }
  double row_elements() const { return heads * width * (2 * queries + 2 * keys); }
  double query_elements() const { return heads * width * queries; }
  double statistics() const { return heads * queries; }
  /// Returns `times` products of queries x keys, with half of the bytes.
  Product scores(double times, double bytes) const { return product(queries, keys, width, times, bytes); }
  Product rows(double times, double bytes) const { return product(queries, width, keys, times, bytes); }
  Product columns(double times, double bytes) const { return product(keys, width, queries, times, bytes); }

 private:
  Product product(double m, double n, double k, double times, double bytes) const {
    return {m, n, k, heads * share * times, 1, Product::Grows::count, 1, 1, {bytes / 2, 0}, share};
  }
};

/// Reads the sizes from the tensors that begin at operand `first`. The efficient kernel has its heads behind
/// the rows.
FusedSizes fused_sizes(const RecordedCall& call, std::size_t first, bool heads_last) {
  const TensorAt q = call.in(first), k = call.in(first + 1);
  // Dimension 0 is the batch, dimension 3 the width of a head.
  const int head = heads_last ? 2 : 1, row = heads_last ? 1 : 2;
  FusedSizes sizes{q.dim(0) * q.dim(head), q.dim(row), k.dim(row), q.dim(3)};
  if (call.flag("is_causal") || call.flag("causal")) sizes.share = 0.5;
  return sizes;
}

/// Returns the bytes of an element as the model counts them; 4 for an empty tensor.
double element_width(const TensorAt& tensor) {
  return tensor.elements() > 0 ? tensor.bytes() / tensor.elements() : 4;
}

/// Returns the work of a forward call: two products, with queries, keys, values, result and statistics moved
/// once.
RecordedWork fused_forward(const RecordedCall& call, bool heads_last) {
  const FusedSizes s = fused_sizes(call, 0, heads_last);
  const double bytes = element_width(call.in(0)) * (s.row_elements() + s.statistics());
  // Forward has two products: the scores and the weighted values.
  return {2 * s.share * s.product_flops(), bytes, 1, {s.scores(1, bytes), s.rows(1, bytes)}};
}

// Operands of backward begin with the result's gradient, hence the sizes from operand 1 on.
RecordedWork fused_backward(const RecordedCall& call, bool heads_last) {
  const FusedSizes s = fused_sizes(call, 1, heads_last);
  const double bytes =
      element_width(call.in(0)) * (2 * s.row_elements() + 2 * s.query_elements() + s.statistics());
  return {5 * s.share * s.product_flops(), bytes, 2, {s.scores(2, bytes), s.columns(3, bytes)}};
}

template <bool heads_last>
std::vector<RecordedWork> attention_forward(const RecordedCall& call, const OperatorRule&) {
  return {fused_forward(call, heads_last)};
}
template <bool heads_last>
std::vector<RecordedWork> attention_backward(const RecordedCall& call, const OperatorRule&) {
  return {fused_backward(call, heads_last)};
}

/// Returns a row with the words that the reference page prints.
OperatorRule attention_row(std::string_view name, bool backward,
                           std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&)) {
  return {name,
          OperatorClass::attention,
          HostCall::fused_attention,
          backward ? "10 a s_q s_k d, causal half" : "4 a s_q s_k d, causal half",
          backward ? "as the layer `attention` with `fused`" : "q, k, v, result, a s_q statistics",
          work};
}

}  // namespace

// The last four are the kernels below the calls, as some recordings show them.
std::vector<OperatorRule> attention_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name : {"_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
                           "_scaled_dot_product_cudnn_attention", "scaled_dot_product_attention",
                           "_scaled_dot_product_fused_attention_overrideable"})
    rows.push_back(attention_row(name, false, attention_forward<false>));
  for (const char* name :
       {"_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_efficient_attention_backward",
        "_scaled_dot_product_cudnn_attention_backward",
        "_scaled_dot_product_fused_attention_overrideable_backward"})
    rows.push_back(attention_row(name, true, attention_backward<false>));
  // These kernels have the rows in front of the heads.
  rows.push_back(attention_row("_efficient_attention_forward", false, attention_forward<true>));
  rows.push_back(attention_row("_flash_attention_forward", false, attention_forward<true>));
  rows.push_back(attention_row("_efficient_attention_backward", true, attention_backward<true>));
  rows.push_back(attention_row("_flash_attention_backward", true, attention_backward<true>));
  return rows;
}

}  // namespace foretrain
