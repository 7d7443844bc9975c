// Matrix products with trained weights, and the look-up of rows in an embedding table.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

struct ProductWork {
  double rows = 0, in = 0, out = 0, bias = 0;
  double product_flops() const { return 2 * rows * in * out; }
  double product_bytes() const { return 4 * rows * (in + out); }
  double weight_bytes() const { return 4 * in * out; }
};

Operator forward_operator(const ProductWork& w) {
  const double bias_flops = w.bias > 0 ? w.rows * w.out : 0;
  return make_operator(OperatorClass::gemm, HostCall::linear, per_sample(w.product_flops() + bias_flops),
                       {w.weight_bytes() + 4 * w.bias, w.product_bytes()});
}

// Two products (for the input, for the weights) and a column sum for the bias.
Operator backward_operator(const ProductWork& w, bool input_gradient) {
  const int products = input_gradient ? 2 : 1;
  const double sum = w.bias > 0 ? w.rows * w.out : 0;
  return make_operator(OperatorClass::gemm, HostCall::linear, per_sample(products * w.product_flops() + sum),
                       {products * w.weight_bytes() + 4 * w.bias, products * w.product_bytes() + 4 * sum}, products + (w.bias > 0 ? 1 : 0));
}

}  // namespace

TensorId record_linear(Tape& tape, TensorId input, std::int64_t out, bool bias, std::string_view prefix) {
  const Shape in = tape.at(input).shape;
  const ProductWork work{static_cast<double>(in.rows()), static_cast<double>(in.width()), static_cast<double>(out),
                         bias ? static_cast<double>(out) : 0};
  const std::uint32_t weight = tape.parameter(fmt::format("{}weight", prefix), in.width() * out);
  std::vector<std::uint32_t> ready;
  if (bias) ready.push_back(tape.parameter(fmt::format("{}bias", prefix), out));
  ready.push_back(weight);
  const Shape made = in.kind == ShapeKind::sequence ? Shape::sequence(in.size[0], out) : Shape::features(out);
  const TensorId result = tape.result(made, {input}, true);
  tape.forward(forward_operator(work));
  tape.save(input);
  tape.node({{backward_operator(work, tape.at(input).needs_gradient), ready}}, {input}, result);
  return result;
}

Applied apply_linear(Tape& tape, const Layer& layer, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("linear needs [features] or [sequence, width], not {}", to_string(in)),
                  in.kind == ShapeKind::image ? "place a flatten before it" : "place an embedding before it");
  }
  if (!bounded_product({in.width(), layer.out}) || !bounded_product({in.rows(), layer.out})) {
    return misfit("linear makes a tensor of more than 2^40 elements", "use fewer features");
  }
  return {record_linear(tape, input, layer.out, layer.bias, ""), "", ""};
}

Applied apply_embedding(Tape& tape, const Layer& layer, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.kind != ShapeKind::tokens) {
    return misfit(fmt::format("embedding needs token ids, not {}", to_string(in)), "set input_is_tokens = true and place it first");
  }
  const std::int64_t length = in.size[0];
  if (!bounded_product({layer.entries, layer.out}) || !bounded_product({length, layer.out})) {
    return misfit("embedding makes a tensor of more than 2^40 elements", "use fewer entries or a smaller width");
  }
  const Shape made = Shape::sequence(length, layer.out);
  const auto n = static_cast<double>(made.elements()), ids = static_cast<double>(length);
  const auto table = static_cast<double>(layer.entries * layer.out);
  const std::uint32_t weight = tape.parameter("weight", layer.entries * layer.out);
  const TensorId result = tape.result(made, {input}, true);
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, per_sample(n), per_sample(8 * ids + 8 * n)));
  tape.save(input);
  const Operator backward = make_operator(OperatorClass::embedding, HostCall::embedding, {table, 0}, {4 * table, 8 * ids + 8 * n}, 2);
  tape.node({{backward, {weight}}}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
