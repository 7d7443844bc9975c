// Layers without parameters that work element by element or row by row: activations, softmax, dropout,
// flatten.
#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {
namespace {

Applied no_tokens(const Layer& layer, const Shape& in) {
  if (in.kind != ShapeKind::tokens) return {};
  return misfit(fmt::format("{} cannot work on token ids", row_of(layer.type).name),
                "place an embedding first");
}

/// FLOPs an element forward and backward, and whether backward needs the input rather than the result. In
/// place, those that need their input keep a copy of it (`copies`) or make do with their result.
struct Activation {
  double forward = 1, backward = 1;
  bool keeps_input = false, copies = false, never_in_place = false;
};

Activation activation_of(LayerType type) {
  switch (type) {
    case LayerType::gelu:
      return {8, 8, true, false, true};
    case LayerType::silu:
      return {1, 8, true, true, false};
    case LayerType::relu6:
    case LayerType::hardswish:
    case LayerType::hardsigmoid:
      return {1, 1, true, true, false};
    case LayerType::leaky_relu:
    case LayerType::elu:
      return {1, 1, true, false, false};
    default:
      return {};
  }
}

/// A random factor for each of `factors` elements, channels or samples, and the product with all n; backward
/// is the product alone.
Applied record_mask(Tape& tape, TensorId input, double factors, double counted) {
  const Shape in = tape.at(input).shape;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(counted * factors + n),
                             per_sample(16 * factors + 8 * n), 3));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * factors));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n),
                            per_sample(4 * factors + 8 * n)),
              {}}},
            {input}, result);
  return {result, "", ""};
}

}  // namespace

Applied apply_activation(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const Activation activation = activation_of(layer.type);
  const bool inplace = layer.inplace && !activation.never_in_place, copied = inplace && activation.copies;
  const HostCall call = layer.type == LayerType::gelu ? HostCall::gelu : HostCall::activation;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = inplace ? tape.alias(in, input) : tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, call, per_sample(activation.forward * n),
                             per_sample((copied ? 16 : 8) * n), copied ? 2 : 1));
  if (tape.at(result).needs_gradient) {
    if (copied)
      tape.save(per_sample(4 * n));
    else
      tape.save(activation.keeps_input && !inplace ? input : result);
  }
  tape.node({{make_operator(OperatorClass::elementwise, call, per_sample(activation.backward * n),
                            per_sample(12 * n)),
              {}}},
            {input}, result);
  return {result, "", ""};
}

Applied apply_softmax(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  Operator forward =
      make_operator(OperatorClass::reduction, HostCall::softmax, per_sample(8 * n), per_sample(8 * n));
  forward.half_capable = false;
  Operator backward = forward;
  backward.bytes = per_sample(12 * n);
  tape.forward(forward);
  if (tape.at(result).needs_gradient) tape.save(result);
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

// One fused kernel reads x and writes y and a one-byte mask; FLOPs and kept mask are those of the unfused
// form (docs/models/operators.md). In place on a view the framework replays the view on a copy of the
// gradient: five more kernels, 40 n bytes.
Applied apply_dropout(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const auto n = static_cast<double>(in.elements());
  const bool replays = layer.inplace && tape.at(input).is_view;
  const TensorId result = layer.inplace ? tape.alias(in, input) : tape.result(in, {input}, false);
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(3 * n), per_sample(9 * n)));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * n));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(replays ? 2 * n : n),
                            per_sample(replays ? 49 * n : 9 * n), replays ? 6 : 1),
              {}}},
            {input}, result);
  return {result, "", ""};
}

// The framework's counter takes the allocation of the factors for an operation of their size.
Applied apply_dropout_channels(Tape& tape, const Layer& layer, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.sides() == 0) {
    return misfit(fmt::format("{} needs an image [channels, height, width], not {}", row_of(layer.type).name,
                              to_string(in)),
                  "use dropout elsewhere");
  }
  return record_mask(tape, input, static_cast<double>(in.size[0]), 3);
}

Applied apply_drop_path(Tape& tape, const Layer& layer, TensorId input) {
  if (Applied fault = no_tokens(layer, tape.at(input).shape); !fault.ok()) return fault;
  return record_mask(tape, input, 1, 2);
}

Applied apply_flatten(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const TensorId result = tape.view(Shape::features(in.elements()), input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
