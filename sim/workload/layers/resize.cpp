// Layers that change a tensor's extent without parameters: upsampling, a slice of the channels, another shape
// for the same elements. The start of a further input stands here too.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// The way in which upsampling makes new positions.
enum class Interpolation : std::uint8_t { nearest, bilinear };

// Options of the layers.
struct Upsample {
  Sides factor = 2;
  Interpolation mode = Interpolation::nearest;
};
struct Slice {
  std::int64_t out = 0, offset = 0;  ///< channels or features kept, and before them
};
struct Reshape {
  std::vector<std::int64_t> shape;  ///< one entry may be -1
};
struct Start {
  std::vector<std::int64_t> input;
  /// The input holds token ids.
  bool tokens = false;
};

// Nearest copies one neighbour. Bilinear blends two for every side: four products and three sums for an
// image.
Applied apply_upsample(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.sides() == 0) {
    return misfit(fmt::format("upsample needs an image [channels, height, width], not {}", to_string(in)),
                  "place it before flatten");
  }
  const auto& own = layer.get<Upsample>();
  if (Applied fault = check_sides(layer, in.sides(), {{"factor", own.factor}}); !fault.ok()) return fault;
  Shape made = in;
  for (std::size_t side = 0; side < in.sides(); ++side) {
    const auto grown = bounded_product({in.size[side + 1], own.factor[side]});
    if (grown) made.size[side + 1] = *grown;
    if (!grown || !is_bounded(made))
      return misfit("upsample makes a tensor of more than 2^40 elements", "use a smaller factor");
  }
  const auto from = static_cast<double>(in.elements()), to = static_cast<double>(made.elements());
  const double neighbours = own.mode == Interpolation::nearest ? 1 : (in.sides() == 3 ? 8 : 4);
  const Amount flops = per_sample((2 * neighbours - 1) * to);
  const TensorId result = tape.result(made, {input}, false);
  tape.forward(make_operator(OperatorClass::pooling, HostCall::pooling, flops, per_sample(4 * (from + to))));
  tape.node(
      {{make_operator(OperatorClass::pooling, HostCall::pooling, flops, per_sample(4 * (from + to))), {}}},
      {input}, result);
  return {result, "", ""};
}

// A slice is a view forward. Backward writes a tensor of zeros and copies the slice's gradient into it.
Applied apply_slice(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  const auto& own = layer.get<Slice>();
  Shape made = in;
  std::int64_t& kept = made.size[in.joint()];
  if (own.offset + own.out > kept) {
    return misfit(fmt::format("slice takes {} to {} of {}", own.offset, own.offset + own.out, to_string(in)),
                  "offset + out must lie within the channels (or the last dimension)");
  }
  // The slice is along channels, or along the last dimension.
  kept = own.out;
  const auto from = static_cast<double>(in.elements()), to = static_cast<double>(made.elements());
  const TensorId result = tape.view(made, input);
  tape.node({{make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(4 * from + 8 * to), 2), {}}},
            {input}, result);
  return {result, "", ""};
}

// A reshape is always a view. One entry may be -1: it takes the elements that the others leave.
Applied apply_reshape(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  const auto& own = layer.get<Reshape>();
  std::vector<std::int64_t> sizes = own.shape;
  // The open entry is filled in once the product of the others is known.
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
    return misfit(fmt::format("reshape cannot make [{}] of {}", fmt::join(own.shape, ", "), to_string(in)),
                  "the number of elements must stay the same");
  }
  const TensorId result = tape.view(*made, input);
  tape.node({}, {input}, result);
  return {result, "", ""};
}

// A further input has a batch of its own and needs no previous layer.
Applied open_input(Tape& tape, const Layer& layer) {
  const auto& own = layer.get<Start>();
  if (const auto shape = input_shape(own.input, own.tokens)) return {tape.input(*shape), "", ""};
  return misfit("the started input is no shape of at most 2^40 elements",
                "write shape = [channels, height, width], [features], or [length] with tokens = true");
}

void check_upsample(const LayerCheck& check) {
  check.range("factor", check.layer.get<Upsample>().factor, 1, kLargestStep);
}

void check_slice(const LayerCheck& check) {
  const auto& own = check.layer.get<Slice>();
  check.range("out", own.out, 1, kWidestLayer);
  check.range("offset", own.offset, 0, kWidestLayer);
}

}  // namespace

LayerType upsample_layer() {
  return {.name = "upsample",
          .keys = {layer_key<&Upsample::factor>("factor"),
                   word_key<&Upsample::mode>("mode", {"nearest", "bilinear"})},
          .apply = apply_upsample,
          .check = check_upsample};
}

LayerType slice_layer() {
  return {.name = "slice",
          .keys = {required_key<&Slice::out>("out"), layer_key<&Slice::offset>("offset", {.least = 0})},
          .apply = apply_slice,
          .check = check_slice,
          .module = ModuleRule::never,
          .widening = {.is_rigid = always_rigid}};
}

LayerType reshape_layer() {
  return {.name = "reshape",
          .keys = {required_key<&Reshape::shape>("shape", {.least = -1, .longest = 4})},
          .apply = apply_reshape,
          .module = ModuleRule::never,
          .widening = {.is_rigid = always_rigid}};
}

LayerType start_layer() {
  return {.name = "start",
          .keys = {required_key<&Start::input>("input", {.longest = 4}), layer_key<&Start::tokens>("tokens")},
          .open = open_input,
          .module = ModuleRule::never};
}

}  // namespace foretrain
