// Scaled dot-product attention, softmax(q k^T / sqrt(d)) v: operator by operator as eager frameworks issue
// it, or as the one kernel of flash attention.
//
// With a heads, s rows and width h each batched product is 2 s^2 h FLOPs. Eager execution keeps head-major
// copies of q, k and v. Of the a s^2 scores it keeps the softmax's result and, with dropout, the mask and the
// dropped weights. The fused kernel keeps q, k, v, the context and one number a row and head. Its backward
// makes the scores again: five products instead of four. It skips the blocks of keys that causality or a
// window hides.
#include "sim/workload/fine_tuning/virtual_tokens.hpp"
#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Records one pass over a tensor, with the same pass backward where it changes the gradient.
TensorId record_pass(Tape& tape, TensorId input, HostCall call, bool works_backward) {
  const Shape shape = tape.at(input).shape;
  const Operator pass = pass_over(static_cast<double>(shape.elements()), call);
  const TensorId result = tape.result(shape, {input}, false);
  tape.forward(pass);
  std::vector<BackwardStep> steps;
  if (works_backward) steps.push_back(backward_of(pass));
  tape.node(std::move(steps), {input}, result);
  return result;
}

/// Records q k^T, with the head-major copies that the product needs.
TensorId record_scores(Tape& tape, const Attention& own, const AttentionSize& size, const Heads& heads) {
  if (own.projection != Projection::module)
    tape.forward(copy_of(size.query_elements() + size.key_elements(), 2));
  const TensorId scores = tape.result(size.score_shape(), {heads.q, heads.k}, false);
  tape.forward(batched_products(size, {size.makes_scores()}));
  tape.save(per_sample(4 * (size.query_elements() + size.key_elements())));
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_query_rows()}))},
            {heads.q, heads.k}, scores);
  return scores;
}

/// Records the addition of a bias of the same size, whose gradient is the scores' own.
TensorId record_bias(Tape& tape, const AttentionSize& size, TensorId scores, TensorId bias) {
  const TensorId sum = tape.result(size.score_shape(), {scores, bias}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::add, per_sample(size.scores()),
                             per_sample(12 * size.scores())));
  tape.node({}, {scores, bias}, sum);
  return sum;
}

/// Records everything from scores to weights, in the order of the scripts: bias, scale, slopes, mask,
/// softmax, dropout.
TensorId record_weights(Tape& tape, const Attention& own, const AttentionSize& size, TensorId scores,
                        const std::optional<TensorId>& bias) {
  if (bias) scores = record_bias(tape, size, scores, *bias);
  if (own.projection != Projection::module && own.scaled)
    scores = record_pass(tape, scores, HostCall::activation, true);
  if (own.alibi) scores = record_pass(tape, scores, HostCall::add, false);
  if (own.mask) scores = record_pass(tape, scores, HostCall::add, false);
  if (own.causal) {
    // Hugging Face converts the stored triangle and makes the filling value anew each time.
    tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {1, 0},
                               {2 * static_cast<double>(size.queries * size.keys), 0}, 2));
    scores = record_pass(tape, scores, HostCall::activation, true);
  }
  const TensorId weights = record_softmax(tape, scores);
  return own.dropout ? record_dropout(tape, weights) : weights;
}

/// Records the product of weights and values, and keeps both for backward.
TensorId record_context(Tape& tape, const Attention& own, const AttentionSize& size, TensorId weights,
                        TensorId v) {
  const AttentionSize values = size.of_values();
  if (own.projection != Projection::module) tape.forward(copy_of(size.value_elements()));
  const TensorId context =
      tape.result(Shape::sequence(size.queries, size.context_width()), {weights, v}, false);
  tape.forward(batched_products(values, {values.makes_query_rows()}));
  tape.save(weights);
  tape.save(per_sample(4 * size.value_elements()));
  tape.node({backward_of(batched_products(values, {values.makes_key_rows(), values.makes_scores()}))},
            {weights, v}, context);
  return context;
}

/// Returns a product of which the mask leaves a share, `times` times.
Product masked(Product product, double share, double times = 1) {
  product.count *= share * times;
  product.unmasked_share = share;
  return product;
}

/// Returns the share of all pairs of a query and a key that the fused kernel computes.
double share_of_pairs(const Attention& own, const AttentionSize& size) {
  if (!own.causal) return 1;
  if (own.window == 0 || own.window >= size.keys) return 0.5;
  const double seen = static_cast<double>(own.window) / static_cast<double>(size.keys);
  return seen * (1 - seen / 2);
}

/// Returns the fused forward operator: two products, for scores and context, with half of its bytes each.
Operator fused_forward(const AttentionSize& size, double share, double bytes) {
  const AttentionSize values = size.of_values();
  Operator op =
      make_operator(OperatorClass::attention, HostCall::fused_attention,
                    per_sample(share * (size.product_flops() + values.product_flops())), per_sample(bytes));
  op.with(masked(size.makes_scores(), share)).with(masked(values.makes_query_rows(), share));
  return op;
}

/// Returns the fused backward operator. The row sums of gradient times context come first, then one kernel
/// for all three gradients. It has two products that make scores (from queries and keys, from the gradient
/// and values) and three that make rows (of values, queries and keys).
Operator fused_backward(const AttentionSize& size, double share, double bytes) {
  const auto wide = static_cast<double>(size.head_width), value = static_cast<double>(size.value_head());
  Operator op =
      make_operator(OperatorClass::attention, HostCall::fused_attention,
                    per_sample(share * (3 * size.product_flops() + 2 * size.of_values().product_flops())),
                    per_sample(bytes), 2);
  // An operator holds two products, so equal kinds are merged: their counts add up and their widths are
  // averaged.
  Product scores = masked(size.makes_scores(), share, 2), rows = masked(size.makes_key_rows(), share, 3);
  scores.k = (wide + value) / 2, rows.n = (2 * wide + value) / 3;
  return op.with(scores).with(rows);
}

}  // namespace

// Heads and samples multiply the count of a batched product.
Product AttentionSize::product(std::int64_t m, std::int64_t n, std::int64_t k) const {
  return {static_cast<double>(m),
          static_cast<double>(n),
          static_cast<double>(k),
          static_cast<double>(heads),
          1,
          Product::Grows::count,
          1,
          1,
          per_sample(product_bytes())};
}

void add_prefix(Tape& tape, AttentionSize& size, Heads& heads) {
  if (tape.trainability().tuning().adapter != AdapterKind::prefix || size.keys != size.queries) return;
  heads.k = record_prefix(tape, heads.k, "key");
  heads.v = record_prefix(tape, heads.v, "value");
  size.keys = tape.at(heads.k).shape.rows();
}

Operator batched_products(const AttentionSize& size, const std::vector<Product>& products) {
  const auto count = static_cast<int>(products.size());
  Operator op =
      make_operator(OperatorClass::attention, HostCall::attention, per_sample(count * size.product_flops()),
                    per_sample(count * size.product_bytes()), count);
  for (const Product& product : products) op.with(product);
  return op;
}

Operator copy_of(double elements, int count) {
  return make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * elements), count);
}

Operator pass_over(double elements, HostCall call) {
  return make_operator(OperatorClass::elementwise, call, per_sample(elements), per_sample(8 * elements));
}

BackwardStep backward_of(const Operator& op) { return {op, {}}; }

// torch's module scales the queries before the product; the other forms scale the scores.
TensorId record_eager_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads) {
  Heads scaled = heads;
  if (own.projection == Projection::module) scaled.q = record_pass(tape, heads.q, HostCall::activation, true);
  const TensorId weights =
      record_weights(tape, own, size, record_scores(tape, own, size, scaled), heads.bias);
  return record_context(tape, own, size, weights, heads.v);
}

// Forward is one kernel; backward is the row sums and one kernel for all gradients.
TensorId record_fused_attention(Tape& tape, const Attention& own, const AttentionSize& size,
                                const Heads& heads) {
  const double share = share_of_pairs(own, size);
  // The fused kernel reads queries, keys and values and writes the context; the statistics are one number a
  // row and head.
  const double rows =
      4 * (size.query_elements() + size.key_elements() + size.value_elements() + size.context_elements());
  const double statistics = 4 * static_cast<double>(size.heads * size.queries);
  Operator forward = fused_forward(size, share, rows + statistics);
  // Backward reads all that forward read and wrote, and the gradient; it writes three gradients.
  Operator backward = fused_backward(size, share, 2 * rows + 8 * size.context_elements() + statistics);
  // The bytes of the operator are divided equally between its two products.
  for (Operator* op : {&forward, &backward}) {
    for (int i = 0; i < op->product_count; ++i)
      op->products[static_cast<std::size_t>(i)].bytes = per_sample(op->bytes.per_sample / 2);
  }
  const TensorId context =
      tape.result(Shape::sequence(size.queries, size.context_width()), {heads.q, heads.k, heads.v}, false);
  tape.forward(forward);
  for (const TensorId kept : {heads.q, heads.k, heads.v, context}) tape.save(kept);
  tape.save(per_sample(statistics));
  tape.node({backward_of(backward)}, {heads.q, heads.k, heads.v}, context);
  return context;
}

TensorId record_merged_heads(Tape& tape, const AttentionSize& size, TensorId context) {
  const TensorId merged = tape.result(Shape::sequence(size.queries, size.context_width()), {context}, false);
  tape.forward(copy_of(size.context_elements()));
  tape.node({backward_of(copy_of(size.context_elements()))}, {context}, merged);
  return merged;
}

}  // namespace foretrain
