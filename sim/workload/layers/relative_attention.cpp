// Attention over cached tokens with relative positions, as Transformer-XL runs it.
//
// Queries are the rows of this segment. Keys and values are those of the memory and of this segment; the
// memory gets no gradient. The scores are the sum of two products, (q + u) k^T and (q + v) r^T, with r the
// projected distances. The distances are the same for all samples, and the second product is shifted row by
// row. u and v are two vectors that all layers share.
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Options of the layer.
struct RelativeAttention {
  std::int64_t heads = 0;
  std::int64_t width = 0;          ///< of all heads; 0: the input's
  std::int64_t memory_length = 0;  ///< cached tokens
  /// Weights pass a dropout.
  bool dropout = false;
};

/// Sizes and parameters of one layer.
struct RelativeWork {
  AttentionSize size;
  std::int64_t width = 0;  ///< of the input
  std::uint32_t distance_weight = 0, content_bias = 0, position_bias = 0;

  // The distances are keys of their own, projected by one product without a batch.
  double distance_elements() const { return size.key_elements(); }
  double distance_flops() const { return 2 * static_cast<double>(size.keys * width * size.width()); }
  Amount distance_bytes() const {
    return {4 * (static_cast<double>(width * size.width() + size.keys * width) + distance_elements()), 0};
  }
};

/// Records the concatenation of the memory in front of the segment.
TensorId record_memory(Tape& tape, TensorId input, std::int64_t memory_length) {
  const Shape in = tape.at(input).shape;
  const Shape joined = Shape::sequence(memory_length + in.rows(), in.width());
  const TensorId result = tape.result(joined, {input}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {},
                             per_sample(8 * static_cast<double>(joined.elements()))));
  tape.node({}, {input}, result);
  return result;
}

/// Records one product for queries, keys and values. Queries are only the segment's own rows, but the product
/// makes them for the memory too.
Heads project_relative(Tape& tape, TensorId joined, const RelativeWork& work) {
  const TensorId all = record_linear(tape, joined, 3 * work.size.width(), {LinearForm::Bias::none, "qkv."});
  const Shape keys = Shape::sequence(work.size.keys, work.size.width());
  const Heads heads{tape.alias(Shape::sequence(work.size.queries, work.size.width()), all),
                    tape.alias(keys, all), tape.alias(keys, all)};
  tape.node({backward_of(copy_of(work.size.query_elements() + 2 * work.size.key_elements(), 2)),
             backward_of(copy_of(3 * work.size.key_elements()))},
            {all}, heads.q);
  return heads;
}

/// Records q + a trained vector, made contiguous for the product.
TensorId add_vector(Tape& tape, TensorId q, const RelativeWork& work, std::uint32_t vector) {
  const double n = work.size.query_elements();
  const TensorId result = tape.result(tape.at(q).shape, {q}, true);
  tape.forward(pass_over(n, HostCall::add));
  tape.forward(copy_of(n));
  const Operator sum =
      make_operator(OperatorClass::reduction, HostCall::add, per_sample(n), per_sample(4 * n));
  tape.node({backward_of(copy_of(n)), {sum, {vector}}}, {q}, result);
  return result;
}

/// Records the projection of the distances; its work does not grow with the batch.
TensorId record_distances(Tape& tape, const RelativeWork& work) {
  const TensorId distances = tape.result(Shape::sequence(work.size.keys, work.size.width()), {}, true);
  const Operator project_relative =
      make_operator(OperatorClass::gemm, HostCall::linear, {work.distance_flops(), 0}, work.distance_bytes());
  tape.forward(project_relative);
  tape.save(Amount{4 * (static_cast<double>(work.size.keys * work.width) + work.distance_elements()), 0});
  tape.node({{project_relative, {work.distance_weight}}}, {}, distances);
  return distances;
}

/// Returns a product with one operand for all samples: its rows grow with the batch, not its count.
Product for_all_samples(Product product, Product::Grows grows) {
  product.grows = grows;
  return product;
}

/// Records the two products, the shift, and their sum with scale and mask.
TensorId record_relative_scores(Tape& tape, const Heads& heads, TensorId distances,
                                const RelativeWork& work) {
  const AttentionSize& size = work.size;
  // The first product: queries by content.
  const TensorId by_content = add_vector(tape, heads.q, work, work.content_bias);
  tape.forward(copy_of(size.key_elements()));
  const TensorId content = tape.result(size.score_shape(), {by_content, heads.k}, false);
  tape.forward(batched_products(size, {size.makes_scores()}));
  tape.save(per_sample(4 * (size.query_elements() + size.key_elements())));
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_query_rows()}))},
            {by_content, heads.k}, content);

  // The second product: queries by distance.
  const TensorId by_position = add_vector(tape, heads.q, work, work.position_bias);
  const TensorId position = tape.result(size.score_shape(), {by_position, distances}, false);
  tape.forward(batched_products(size, {for_all_samples(size.makes_scores(), Product::Grows::rows)}));
  tape.save(per_sample(4 * size.query_elements()));
  tape.node(
      {backward_of(batched_products(size, {for_all_samples(size.makes_key_rows(), Product::Grows::depth),
                                           for_all_samples(size.makes_query_rows(), Product::Grows::rows)}))},
      {by_position, distances}, position);

  // The shift pads a column and reads the rows one element further on. Then one fused kernel adds and scales,
  // and one masks.
  const TensorId shifted = tape.result(size.score_shape(), {position}, false);
  tape.forward(copy_of(size.scores()));
  tape.node({backward_of(copy_of(size.scores(), 2))}, {position}, shifted);
  const TensorId scores = tape.result(size.score_shape(), {content, shifted}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::add, per_sample(2 * size.scores()),
                             per_sample(12 * size.scores())));
  tape.forward(pass_over(size.scores(), HostCall::activation));
  tape.node({backward_of(pass_over(size.scores(), HostCall::activation)),
             backward_of(pass_over(size.scores(), HostCall::activation))},
            {content, shifted}, scores);
  return scores;
}

/// Records the weighted sum of the values, and the return from heads to rows.
TensorId record_relative_context(Tape& tape, TensorId weights, TensorId v, const AttentionSize& size) {
  const double rows = size.query_elements();
  const TensorId context = tape.result(Shape::sequence(size.queries, size.width()), {weights, v}, false);
  tape.forward(copy_of(size.key_elements()));
  tape.forward(batched_products(size, {size.makes_query_rows()}));
  tape.save(weights);
  tape.save(per_sample(4 * size.key_elements()));
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_scores()}))}, {weights, v},
            context);
  const TensorId merged = tape.result(tape.at(context).shape, {context}, false);
  tape.forward(copy_of(rows));
  tape.node({backward_of(copy_of(rows))}, {context}, merged);
  return merged;
}

// Parameters are registered in this order: shared vectors, projections, distances, output.
Applied apply_relative_attention(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<RelativeAttention>();
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("relative_attention needs [sequence, width], not {}", to_string(in)),
                  "place an embedding before it");
  const std::int64_t width = own.width > 0 ? own.width : in.width();
  if (width % own.heads != 0)
    return misfit(fmt::format("{} heads do not divide the width {}", own.heads, width),
                  "use a divisor of the width");
  RelativeWork work;
  work.size = {in.rows(), own.memory_length + in.rows(), own.heads, width / own.heads},
  work.width = in.width();
  if (!bounded_product({3, width, in.width()}) || !bounded_product({3, work.size.keys, width}) ||
      !bounded_product({work.size.keys, in.width()}) ||
      !bounded_product({own.heads, work.size.queries, work.size.keys}))
    return misfit("relative_attention makes a tensor of more than 2^40 elements",
                  "use a shorter sequence or a smaller width");
  // u and v are shared by all layers of the network, whatever label the other weights have.
  tape.share("relative_attention");
  work.content_bias = tape.parameter("content_bias", width),
  work.position_bias = tape.parameter("position_bias", width);
  tape.share(layer.weights);

  const TensorId joined = own.memory_length > 0 ? record_memory(tape, input, own.memory_length) : input;
  const Heads heads = project_relative(tape, joined, work);
  work.distance_weight = tape.parameter("distance.weight", in.width() * width);
  const TensorId distances = record_distances(tape, work);
  TensorId weights = record_softmax(tape, record_relative_scores(tape, heads, distances, work));
  if (own.dropout) weights = record_dropout(tape, weights);
  const TensorId context = record_relative_context(tape, weights, heads.v, work.size);
  return {record_linear(tape, context, in.width(), {LinearForm::Bias::none, "output."}), "", ""};
}

void check_relative_attention(const LayerCheck& check) {
  const auto& own = check.layer.get<RelativeAttention>();
  check.range("heads", own.heads, 1, kWidestLayer);
  check.range("width", own.width, 0, kWidestLayer);
  check.range("memory_length", own.memory_length, 0, kWidestLayer);
}

std::int64_t heads_of_relative(const Layer& layer) { return layer.get<RelativeAttention>().heads; }

void widen_relative(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<RelativeAttention>();
  if (own.width > 0) own.width = wider(own.width);
}

}  // namespace

LayerType relative_attention_layer() {
  using R = RelativeAttention;
  return {.name = "relative_attention",
          .keys = {required_key<&R::heads>("heads"), layer_key<&R::width>("width"),
                   layer_key<&R::memory_length>("memory_length", {.least = 0}),
                   layer_key<&R::dropout>("dropout")},
          .apply = apply_relative_attention,
          .check = check_relative_attention,
          .widening = {.divisor = heads_of_relative, .widen = widen_relative}};
}

}  // namespace foretrain
