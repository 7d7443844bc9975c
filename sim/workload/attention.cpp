// Multi-head self-attention as eager frameworks run it: three projections, two batched products around a softmax, one projection.
//
// With s rows of width h and a heads: each batched product is 2 s^2 h FLOPs and works on head-major copies of its operands;
// the scores are a s^2 elements, kept once after the softmax. Nothing is dropped inside and no mask is added.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

struct AttentionWork {
  double flops = 0;   // one batched product
  double rows = 0;    // s h, elements of q, k, v
  double scores = 0;  // a s^2
  double product_bytes() const { return 4 * (2 * rows + scores); }
  double copy_bytes() const { return 8 * rows; }
};

Operator batched_products(const AttentionWork& work, int products, int copies) {
  return make_operator(OperatorClass::attention, HostCall::attention, per_sample(products * work.flops),
                       per_sample(products * work.product_bytes() + copies * work.copy_bytes()), products + copies);
}

TensorId record_scores(Tape& tape, TensorId q, TensorId k, const Shape& shape, const AttentionWork& work) {
  const TensorId scores = tape.result(shape, {q, k}, true);
  tape.forward(batched_products(work, 1, 2));
  tape.save(per_sample(8 * work.rows));
  tape.node({{batched_products(work, 2, 2), {}}}, {q, k}, scores);

  const TensorId scaled = tape.result(shape, {scores}, true);
  const Operator divide =
      make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(work.scores), per_sample(8 * work.scores));
  tape.forward(divide);
  tape.node({{divide, {}}}, {scores}, scaled);
  return apply_softmax(tape, Layer{}, scaled).tensor;
}

TensorId record_context(Tape& tape, TensorId weights, TensorId v, const Shape& shape, const AttentionWork& work) {
  const TensorId context = tape.result(shape, {weights, v}, true);
  tape.forward(batched_products(work, 1, 2));
  tape.save(per_sample(4 * work.rows));
  tape.node({{batched_products(work, 2, 2), {}}}, {weights, v}, context);
  return context;
}

}  // namespace

Applied apply_attention(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence) {
    return misfit(fmt::format("attention needs [sequence, width], not {}", to_string(in)), "place an embedding before it");
  }
  const std::int64_t length = in.size[0], width = in.size[1];
  if (width % layer.heads != 0)
    return misfit(fmt::format("{} heads do not divide the width {}", layer.heads, width), "use a divisor of the width");
  if (!bounded_product({width, width}) || !bounded_product({layer.heads, length, length})) {
    return misfit("attention makes a tensor of more than 2^40 elements", "use a shorter sequence or a smaller width");
  }
  AttentionWork work;
  work.rows = static_cast<double>(length * width), work.scores = static_cast<double>(layer.heads * length * length);
  work.flops = 2 * work.rows * static_cast<double>(length);

  const TensorId q = record_linear(tape, input, width, layer.bias, "query.");
  const TensorId k = record_linear(tape, input, width, layer.bias, "key.");
  const TensorId v = record_linear(tape, input, width, layer.bias, "value.");
  const TensorId weights = record_scores(tape, q, k, Shape::sequence(layer.heads * length, length), work);
  const TensorId context = record_context(tape, weights, v, in, work);
  return {record_linear(tape, context, width, layer.bias, "output."), "", ""};
}

}  // namespace foretrain
