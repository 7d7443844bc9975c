// Other views of sequences: an image's positions as rows, the first row alone, the mean of the rows, all rows
// but the last.
//
// Views cost nothing forward. Backward, a view of a part writes its gradient into zeros of the whole, once
// for each of the two indexing steps that scripts write (x[:, 0], logits[:, :-1, :]).
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Returns the step that writes zeros of the whole and copies the part into them.
BackwardStep into_zeros(double part, double whole) {
  return {make_operator(OperatorClass::copy, HostCall::copy, per_sample(whole),
                        per_sample(4 * whole + 8 * part), 2),
          {}};
}

// Positions become rows: a view, whose gradient is passed on.
Applied apply_to_sequence(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::image) {
    return misfit(fmt::format("to_sequence needs [channels, height, width], not {}", to_string(in)),
                  "place it after a convolution");
  }
  const TensorId result = tape.alias(Shape::sequence(in.elements() / in.size[0], in.size[0]), input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

// The first row alone, such as BERT's class token.
Applied apply_first_token(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("first_token needs [sequence, width], not {}", to_string(in)),
                  "place it after an embedding");
  const auto part = static_cast<double>(in.width()), whole = static_cast<double>(in.elements());
  const TensorId result = tape.alias(Shape::features(in.width()), input);
  tape.node({into_zeros(part, whole), into_zeros(whole, whole)}, {input}, result);
  return {result, "", ""};
}

// The mean of all rows. The traced Swin keeps its input, and copies the result into another memory order.
Applied apply_mean_tokens(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("mean_tokens needs [sequence, width], not {}", to_string(in)),
                  "place it after to_sequence");
  const auto n = static_cast<double>(in.elements()), width = static_cast<double>(in.width());
  const TensorId result = tape.result(Shape::features(in.width()), {input}, false);
  tape.forward(make_operator(OperatorClass::reduction, HostCall::pooling, per_sample(n + width),
                             per_sample(4 * (n + width))));
  if (tape.at(result).needs_gradient) tape.save(input);
  const Operator backward = make_operator(OperatorClass::elementwise, HostCall::pooling,
                                          per_sample(n + width), per_sample(4 * n + 12 * width), 2);
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

/// Returns the number of time steps: rows of a sequence; of an image or a signal, the last dimension.
std::int64_t steps_of(const Shape& shape) {
  return shape.sides() == 0 ? shape.rows() : shape.size[shape.sides()];
}

// `scale` multiplies by a factor. `mask` writes zeros behind each sample's end, for which eight operators on
// lengths make the mask.
template <bool masks>
Applied apply_pass(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit(fmt::format("{} cannot work on token ids", layer.type->name), "place an embedding first");
  if (masks) {
    Operator lengths = make_operator(OperatorClass::elementwise, HostCall::activation, {},
                                     per_sample(16 * static_cast<double>(steps_of(in))), 6);
    lengths.calls = 8;
    tape.forward(lengths);
  }
  const Operator pass = make_operator(OperatorClass::elementwise, HostCall::activation,
                                      per_sample(static_cast<double>(in.elements())),
                                      per_sample(8 * static_cast<double>(in.elements())));
  const TensorId result = tape.result(in, {input}, false);
  tape.forward(pass);
  tape.node({{pass, {}}}, {input}, result);
  return {result, "", ""};
}

// Language models predict the next token, so the last row has no target and is cut off.
Applied apply_shift(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence || in.rows() < 2) {
    return misfit(fmt::format("shift needs a sequence of two rows or more, not {}", to_string(in)),
                  "it drops the last row");
  }
  const Shape made = Shape::sequence(in.rows() - 1, in.width());
  const auto part = static_cast<double>(made.elements()), whole = static_cast<double>(in.elements());
  const TensorId result = tape.result(made, {input}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * part)));
  tape.node({into_zeros(part, whole), into_zeros(whole, whole)}, {input}, result);
  return {result, "", ""};
}

}  // namespace

LayerType to_sequence_layer() { return {.name = "to_sequence", .apply = apply_to_sequence}; }
LayerType first_token_layer() { return {.name = "first_token", .apply = apply_first_token}; }
LayerType shift_layer() { return {.name = "shift", .apply = apply_shift}; }
LayerType mean_tokens_layer() { return {.name = "mean_tokens", .apply = apply_mean_tokens}; }
LayerType scale_layer() { return {.name = "scale", .apply = apply_pass<false>}; }
LayerType mask_layer() { return {.name = "mask", .apply = apply_pass<true>}; }

}  // namespace foretrain
