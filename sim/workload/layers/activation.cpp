// Layers without parameters that work element by element or row by row: activations, softmax, dropout,
// flatten.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Returns a misfit for token ids, on which no element-wise layer can work.
Applied no_tokens(const Layer& layer, const Shape& in) {
  if (in.kind != ShapeKind::tokens) return {};
  return misfit(fmt::format("{} cannot work on token ids", layer.type->name), "place an embedding first");
}

/// Option of activations: the result overwrites the input.
struct InPlace {
  bool inplace = false;
};

/// FLOPs an element forward and backward, and whether backward needs the input rather than the result. An
/// activation in place that needs its input either keeps a copy of it (`copies`) or uses its result.
struct Activation {
  double forward = 1, backward = 1;
  bool keeps_input = false, copies = false, never_in_place = false;
  HostCall call = HostCall::activation;
};
constexpr Activation kPlain{}, kGelu{8, 8, true, false, true, HostCall::gelu}, kSilu{1, 8, true, true},
    kHard{1, 1, true, true}, kLeaky{1, 1, true};

/// Records a random factor for each of `factors` elements, channels or samples, and its product with all n
/// elements. Backward is the product alone. `counted` is the FLOPs per factor.
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

/// Records an activation: one kernel forward and one backward, with one kept tensor.
template <const Activation& activation>
Applied apply_activation(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  // An activation in place takes the storage of its input. One that needs the input in backward copies it
  // first.
  const bool inplace = layer.get<InPlace>().inplace && !activation.never_in_place,
             copied = inplace && activation.copies;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = inplace ? tape.alias(in, input) : tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, activation.call, per_sample(activation.forward * n),
                             per_sample((copied ? 16 : 8) * n), copied ? 2 : 1));
  if (tape.at(result).needs_gradient) {
    if (copied)
      tape.save(per_sample(4 * n));
    else
      tape.save(activation.keeps_input && !inplace ? input : result);
  }
  tape.node({{make_operator(OperatorClass::elementwise, activation.call, per_sample(activation.backward * n),
                            per_sample(12 * n)),
              {}}},
            {input}, result);
  return {result, "", ""};
}

/// Records relu(x)^2 by two operators. Backward needs relu's result alone: twice the result, its product with
/// the gradient, and relu's own backward.
Applied apply_squared_relu(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(2 * n),
                             per_sample(16 * n), 2));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * n));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(3 * n),
                            per_sample(32 * n), 3),
              {}}},
            {input}, result);
  return {result, "", ""};
}

}  // namespace

// Softmax stays in fp32 under autocast; backward reads its result.
TensorId record_softmax(Tape& tape, TensorId input, bool stays_wide) {
  const Shape in = tape.at(input).shape;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  Operator forward =
      make_operator(OperatorClass::reduction, HostCall::softmax, per_sample(8 * n), per_sample(8 * n));
  forward.half_capable = false, forward.stays_wide = stays_wide;
  Operator backward = forward;
  backward.bytes = per_sample(12 * n);
  tape.forward(forward);
  if (tape.at(result).needs_gradient) tape.save(result);
  tape.node({{backward, {}}}, {input}, result);
  return result;
}

// Dropout is one fused kernel that reads x and writes y and a one-byte mask. FLOPs and kept mask are those of
// the unfused form (docs/models/kernels.md). In place on a view, the framework replays the view on a copy
// of the gradient: five more kernels and 40 n bytes.
TensorId record_dropout(Tape& tape, TensorId input, bool inplace) {
  const Shape in = tape.at(input).shape;
  const auto n = static_cast<double>(in.elements());
  const bool replays = inplace && tape.at(input).is_view;
  const TensorId result = inplace ? tape.alias(in, input) : tape.result(in, {input}, false);
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(3 * n), per_sample(9 * n)));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * n));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(replays ? 2 * n : n),
                            per_sample(replays ? 49 * n : 9 * n), replays ? 6 : 1),
              {}}},
            {input}, result);
  return result;
}

namespace {

// Softmax and dropout as layers; other layers record them too (softmax.hpp).
Applied apply_softmax(Tape& tape, const Layer& layer, TensorId input) {
  if (Applied fault = no_tokens(layer, tape.at(input).shape); !fault.ok()) return fault;
  return {record_softmax(tape, input), "", ""};
}

Applied apply_dropout(Tape& tape, const Layer& layer, TensorId input) {
  if (Applied fault = no_tokens(layer, tape.at(input).shape); !fault.ok()) return fault;
  return {record_dropout(tape, input, layer.get<InPlace>().inplace), "", ""};
}

// Whole channels are dropped. The framework's counter counts the allocation of the factors as an operation of
// their size.
Applied apply_dropout_channels(Tape& tape, const Layer& layer, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.sides() == 0) {
    return misfit(
        fmt::format("{} needs an image [channels, height, width], not {}", layer.type->name, to_string(in)),
        "use dropout elsewhere");
  }
  return record_mask(tape, input, static_cast<double>(in.size[0]), 3);
}

// Drop path scales or drops whole samples: one factor for each.
Applied apply_drop_path(Tape& tape, const Layer& layer, TensorId input) {
  if (Applied fault = no_tokens(layer, tape.at(input).shape); !fault.ok()) return fault;
  return record_mask(tape, input, 1, 2);
}

// Flatten is a view: it has no operator in either direction.
Applied apply_flatten(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = no_tokens(layer, in); !fault.ok()) return fault;
  const TensorId result = tape.view(Shape::features(in.elements()), input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

/// Returns the row of an activation with the option `inplace`.
LayerType activation(std::string_view name, Applied (*apply)(Tape&, const Layer&, TensorId)) {
  return {.name = name,
          .keys = {layer_key<&InPlace::inplace>("inplace")},
          .apply = apply,
          .module = ModuleRule::outside_blocks};
}

}  // namespace

LayerType relu_layer() { return activation("relu", apply_activation<kPlain>); }
LayerType relu6_layer() { return activation("relu6", apply_activation<kHard>); }
LayerType gelu_layer() {
  return {.name = "gelu", .apply = apply_activation<kGelu>, .module = ModuleRule::outside_blocks};
}
LayerType squared_relu_layer() {
  return {.name = "squared_relu", .apply = apply_squared_relu, .module = ModuleRule::outside_blocks};
}
LayerType silu_layer() { return activation("silu", apply_activation<kSilu>); }
LayerType hardswish_layer() { return activation("hardswish", apply_activation<kHard>); }
LayerType hardsigmoid_layer() { return activation("hardsigmoid", apply_activation<kHard>); }
LayerType leaky_relu_layer() { return activation("leaky_relu", apply_activation<kLeaky>); }
LayerType elu_layer() { return activation("elu", apply_activation<kLeaky>); }
LayerType tanh_layer() { return activation("tanh", apply_activation<kPlain>); }
LayerType sigmoid_layer() { return activation("sigmoid", apply_activation<kPlain>); }

LayerType softmax_layer() { return {.name = "softmax", .apply = apply_softmax}; }
LayerType dropout_layer() {
  return {.name = "dropout",
          .keys = {layer_key<&Layer::steps>("steps"), layer_key<&InPlace::inplace>("inplace")},
          .apply = apply_dropout};
}
LayerType dropout_channels_layer() { return {.name = "dropout_channels", .apply = apply_dropout_channels}; }
LayerType drop_path_layer() { return {.name = "drop_path", .apply = apply_drop_path}; }
LayerType flatten_layer() { return {.name = "flatten", .apply = apply_flatten, .module = ModuleRule::never}; }

}  // namespace foretrain
