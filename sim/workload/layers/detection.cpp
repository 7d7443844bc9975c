// Detection networks' work between their layers: regions cut out of feature maps, and the many small
// operators of matching and sampling.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kMostOperators = 10'000;  // of one pointwise layer

/// Options of `pointwise`: a number of small operators of equal size.
struct Pointwise {
  std::int64_t operators = 1;
  std::int64_t out = 0;  ///< elements of each; 0: all of the input
  /// The operators run backward too.
  bool gradient = false;
};

/// Options of `roi_align`: the regions, and the side of each in the result.
struct RoiAlign {
  std::int64_t out = 0;  ///< regions
  Sides kernel = 0;
};

/// Returns `count` host calls of one kernel each, over tensors of `elements`: one is read, one written.
Operator small_operators(std::int64_t count, double elements) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation,
                              per_sample(static_cast<double>(count) * elements),
                              per_sample(8 * static_cast<double>(count) * elements), static_cast<int>(count));
  op.calls = static_cast<std::uint16_t>(count);
  return op;
}

// The input passes through. The results of the operators are used by the script, or stand for a scale and
// shift of the input itself.
Applied apply_pointwise(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Pointwise>();
  const Shape in = tape.at(input).shape;
  const double elements = static_cast<double>(own.out > 0 ? own.out : in.elements());
  const Operator op = small_operators(own.operators, elements);
  const TensorId result = tape.view(in, input);
  tape.forward(op);
  // Operators without `gradient` have no backward pass, as in matching and sampling.
  std::vector<BackwardStep> backward;
  if (own.gradient) backward.push_back({op, {}});
  tape.node(std::move(backward), {input}, result);
  return {result, "", ""};
}

// Every output is the mean of 2 x 2 sample points. Each point is blended from four neighbours, which adjacent
// points share. A level issues five calls: compare, nonzero, gather of boxes, align, scatter of results.
// Backward zeroes each level and adds to it.
Applied join_roi_align(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  constexpr double kPoints = 4;
  const auto& own = layer.get<RoiAlign>();
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
  // Regions stand below one another: their number multiplies the height.
  const auto height = bounded_product({own.out, own.kernel[0]});
  const Shape made = Shape::image(first.size[0], height.value_or(kMostElements), own.kernel[1]);
  if (!height || !is_bounded(made))
    return misfit("roi_align makes a tensor of more than 2^40 elements", "take fewer regions");
  const auto n = static_cast<double>(made.elements());
  const int calls = static_cast<int>(5 * inputs.size()),
            backward_kernels = static_cast<int>(2 * inputs.size());
  Operator forward = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(8 * kPoints * n),
                                   per_sample(4 * (1 + kPoints) * n), calls);
  Operator backward = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(8 * kPoints * n),
                                    per_sample(4 * (1 + 2 * kPoints) * n + 4 * levels), backward_kernels);
  // Every kernel is a call of its own from Python; backward has one call for each level.
  forward.calls = static_cast<std::uint16_t>(calls),
  backward.calls = static_cast<std::uint16_t>(inputs.size());
  const TensorId result = tape.result(made, inputs, false);
  tape.forward(forward);
  tape.node({{backward, {}}}, inputs, result);
  return {result, "", ""};
}

void check_pointwise(const LayerCheck& check) {
  const auto& own = check.layer.get<Pointwise>();
  check.range("out", own.out, 0, kWidestLayer);
  check.range("operators", own.operators, 1, kMostOperators);
}

void check_roi_align(const LayerCheck& check) {
  const auto& own = check.layer.get<RoiAlign>();
  check.range("out", own.out, 1, kLargestStep);
  check.range("kernel", own.kernel, 1, kLargestStep);
  check.joins_several();
}

/// True where the operators' size is absolute and does not grow with the network's width.
bool has_stated_size(const Layer& layer) { return layer.get<Pointwise>().out > 0; }

}  // namespace

LayerType pointwise_layer() {
  return {.name = "pointwise",
          .keys = {required_key<&Pointwise::operators>("operators"), layer_key<&Pointwise::out>("out"),
                   layer_key<&Pointwise::gradient>("gradient")},
          .apply = apply_pointwise,
          .check = check_pointwise,
          .widening = {.is_rigid = has_stated_size}};
}

LayerType roi_align_layer() {
  return {.name = "roi_align",
          .keys = {required_key<&RoiAlign::out>("out"), required_key<&RoiAlign::kernel>("kernel")},
          .join = join_roi_align,
          .check = check_roi_align,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
