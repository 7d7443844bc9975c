// What detection networks do between their layers: regions cut out of feature maps, and the many small
// operators of matching and sampling.
#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {
namespace {

/// One host call and one kernel each, over tensors of `elements`: one read, one written.
Operator small_operators(std::int64_t count, double elements) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation,
                              per_sample(static_cast<double>(count) * elements),
                              per_sample(8 * static_cast<double>(count) * elements), static_cast<int>(count));
  op.calls = static_cast<std::uint16_t>(count);
  return op;
}

}  // namespace

// The input passes through: what the operators make is used by the script, or stands for a scale and shift of
// the input itself.
Applied apply_pointwise(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  const double elements = static_cast<double>(layer.out > 0 ? layer.out : in.elements());
  const Operator op = small_operators(layer.operators, elements);
  const TensorId result = tape.view(in, input);
  tape.forward(op);
  std::vector<BackwardStep> backward;
  if (layer.gradient) backward.push_back({op, {}});
  tape.node(std::move(backward), {input}, result);
  return {result, "", ""};
}

// Every output is the mean of 2 x 2 sample points, each blended from four neighbours that its own neighbours
// share. A level issues five calls: compare, nonzero, gather of boxes, align, scatter of results; backward
// zeroes each level and adds to it.
Applied join_roi_align(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  constexpr double kPoints = 4;
  double levels = 0;
  const Shape first = tape.at(inputs[0]).shape;
  for (const TensorId input : inputs) {
    const Shape& in = tape.at(input).shape;
    if (in.kind != ShapeKind::image || in.size[0] != first.size[0]) {
      return misfit(fmt::format("roi_align needs images of equal channels, not {} and {}", to_string(first),
                                to_string(in)),
                    "give it the levels of one pyramid");
    }
    levels += static_cast<double>(in.elements());
  }
  const auto height = bounded_product({layer.out, layer.kernel[0]});
  const Shape made = Shape::image(first.size[0], height.value_or(kMostElements), layer.kernel[1]);
  if (!height || !is_bounded(made))
    return misfit("roi_align makes a tensor of more than 2^40 elements", "take fewer regions");
  const auto n = static_cast<double>(made.elements());
  const int calls = static_cast<int>(5 * inputs.size()),
            backward_kernels = static_cast<int>(2 * inputs.size());
  Operator forward = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(8 * kPoints * n),
                                   per_sample(4 * (1 + kPoints) * n), calls);
  Operator backward = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(8 * kPoints * n),
                                    per_sample(4 * (1 + 2 * kPoints) * n + 4 * levels), backward_kernels);
  forward.calls = static_cast<std::uint16_t>(calls),
  backward.calls = static_cast<std::uint16_t>(inputs.size());
  const TensorId result = tape.result(made, inputs, false);
  tape.forward(forward);
  tape.node({{backward, {}}}, inputs, result);
  return {result, "", ""};
}

}  // namespace foretrain
