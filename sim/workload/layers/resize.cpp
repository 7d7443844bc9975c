// Layers that change a tensor's extent without parameters: upsampling, a slice of the channels, another shape
// for the same elements.
#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {

// Nearest copies one neighbour, bilinear blends two for every side (four products and three sums for an
// image).
Applied apply_upsample(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.sides() == 0) {
    return misfit(fmt::format("upsample needs an image [channels, height, width], not {}", to_string(in)),
                  "place it before flatten");
  }
  if (Applied fault = check_sides(layer, in.sides()); !fault.ok()) return fault;
  Shape made = in;
  for (std::size_t side = 0; side < in.sides(); ++side) {
    const auto grown = bounded_product({in.size[side + 1], layer.factor[side]});
    if (grown) made.size[side + 1] = *grown;
    if (!grown || !is_bounded(made))
      return misfit("upsample makes a tensor of more than 2^40 elements", "use a smaller factor");
  }
  const auto from = static_cast<double>(in.elements()), to = static_cast<double>(made.elements());
  const double neighbours = layer.interpolation == Interpolation::nearest ? 1 : (in.sides() == 3 ? 8 : 4);
  const Amount flops = per_sample((2 * neighbours - 1) * to);
  const TensorId result = tape.result(made, {input}, false);
  tape.forward(make_operator(OperatorClass::pooling, HostCall::pooling, flops, per_sample(4 * (from + to))));
  tape.node(
      {{make_operator(OperatorClass::pooling, HostCall::pooling, flops, per_sample(4 * (from + to))), {}}},
      {input}, result);
  return {result, "", ""};
}

// A view forward; backward writes a tensor of zeros and copies the slice's gradient into it.
Applied apply_slice(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  Shape made = in;
  std::int64_t& kept = made.size[in.joint()];
  if (layer.offset + layer.out > kept) {
    return misfit(
        fmt::format("slice takes {} to {} of {}", layer.offset, layer.offset + layer.out, to_string(in)),
        "offset + out must lie within the channels (or the last dimension)");
  }
  kept = layer.out;
  const auto from = static_cast<double>(in.elements()), to = static_cast<double>(made.elements());
  const TensorId result = tape.view(made, input);
  tape.node({{make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(4 * from + 8 * to), 2), {}}},
            {input}, result);
  return {result, "", ""};
}

// One entry may be -1: it takes what the others leave. Always a view.
Applied apply_reshape(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  std::vector<std::int64_t> sizes = layer.shape;
  std::int64_t* open = nullptr;
  std::int64_t known = 1;
  for (std::int64_t& size : sizes) {
    if (size == -1)
      open = &size;
    else
      known = bounded_product({known, size}).value_or(kMostElements + 1);
  }
  if (open != nullptr && in.elements() % known == 0) *open = in.elements() / known;
  const std::optional<Shape> made = input_shape(sizes, false);
  if (in.kind == ShapeKind::tokens || !made || made->elements() != in.elements()) {
    return misfit(fmt::format("reshape cannot make [{}] of {}", fmt::join(layer.shape, ", "), to_string(in)),
                  "the number of elements must stay the same");
  }
  const TensorId result = tape.view(*made, input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
