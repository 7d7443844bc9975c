// The pairwise products of feature vectors, as recommenders join their embeddings (DLRM).
//
// f vectors of width d, the first of them dense, become [d + f (f - 1) / 2] features. One batched product of
// f x d x f gives all pairs; its lower triangle is gathered behind the dense vector.
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

// Three results: the vectors side by side, their products, and the gathered features.
Applied join_dot_interaction(Tape& tape, const Layer&, const std::vector<TensorId>& inputs) {
  const std::int64_t width = tape.at(inputs[0]).shape.width();
  for (const TensorId input : inputs) {
    const Shape& shape = tape.at(input).shape;
    if (!shape.is_rows() || shape.elements() != width)
      return misfit(fmt::format("dot_interaction: one input is {}, another {}",
                                to_string(tape.at(inputs[0]).shape), to_string(shape)),
                    "all must be vectors of the same width");
  }
  const auto count = static_cast<std::int64_t>(inputs.size());
  const std::int64_t made = width + count * (count - 1) / 2;
  if (!bounded_product({count, count}) || !bounded_product({made}))
    return misfit("dot_interaction makes too large a tensor", "join fewer vectors");
  const auto rows = static_cast<double>(count * width), pairs = static_cast<double>(count * count),
             out = static_cast<double>(made);
  const TensorId joined = tape.result(Shape::sequence(count, width), inputs, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(8 * rows)));
  tape.node({}, inputs, joined);
  const AttentionSize size{count, count, 1, width};
  // Every pair is computed, also those above the diagonal, which nothing reads.
  const TensorId products = tape.result(Shape::sequence(count, count), {joined}, false);
  tape.forward(batched_products(size, {size.makes_scores()}));
  tape.save(joined);
  // The gradients of both operands are those of the same tensor, hence one more addition.
  const Operator sum =
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(rows), per_sample(12 * rows));
  tape.node({backward_of(batched_products(size, {size.makes_query_rows(), size.makes_key_rows()})),
             backward_of(sum)},
            {joined}, products);
  const TensorId result = tape.result(Shape::features(made), {products, inputs[0]}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(16 * out), 2));
  tape.node({backward_of(
                make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(4 * pairs + 8 * out), 2))},
            {products, inputs[0]}, result);
  return {result, "", ""};
}

}  // namespace

LayerType dot_interaction_layer() {
  return {.name = "dot_interaction", .join = join_dot_interaction, .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
