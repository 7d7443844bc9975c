// Layers without parameters that work element by element or row by row: activations, softmax, dropout, flatten.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

Applied no_tokens(const Layer& layer, const Shape& in) {
  if (in.kind != ShapeKind::tokens) return {};
  return misfit(fmt::format("{} cannot work on token ids", row_of(layer.type).name), "place an embedding first");
}

}  // namespace

// GELU keeps its input and counts 8 FLOPs an element; the others keep their result and count one.
Applied apply_activation(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const bool gelu = layer.type == LayerType::gelu;
  const auto n = static_cast<double>(in.elements());
  const Amount flops = per_sample(gelu ? 8 * n : n);
  const TensorId result = layer.inplace && !gelu ? tape.alias(in, input) : tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::activation, flops, per_sample(8 * n)));
  if (tape.at(result).needs_gradient) tape.save(gelu ? input : result);
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::activation, flops, per_sample(12 * n)), {}}}, {input}, result);
  return {result, "", ""};
}

Applied apply_softmax(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  Operator forward = make_operator(OperatorClass::reduction, HostCall::softmax, per_sample(8 * n), per_sample(8 * n));
  forward.half_capable = false;
  Operator backward = forward;
  backward.bytes = per_sample(12 * n);
  tape.forward(forward);
  if (tape.at(result).needs_gradient) tape.save(result);
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

// One fused kernel reads x and writes y and a one-byte mask; FLOPs and kept mask are those of the unfused form (docs/models/operators.md).
Applied apply_dropout(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(3 * n), per_sample(9 * n)));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * n));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(n), per_sample(9 * n)), {}}}, {input}, result);
  return {result, "", ""};
}

Applied apply_flatten(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const TensorId result = tape.alias(Shape::features(in.elements()), input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
