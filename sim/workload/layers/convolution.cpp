// Convolutions: one call forward. Backward computes the gradients of input, weights and bias in up to three
// kernels.
//
// One, two or three directions are the same arithmetic over a window of positions; a signal is an image of
// height 1. A transposed convolution is a convolution run backwards: every input position spreads over a
// window of outputs. All are recorded as implicit matrix products, whose time device/convolution_time
// computes.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Options of a convolution; a padding of -1 is "same".
struct Convolution {
  std::int64_t out = 0;  ///< channels
  Sides kernel = 0, stride = 1, padding = 0, dilation = 1, output_padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
};

/// The kind of data that a convolution runs over, and its direction.
enum class ConvolutionForm : std::uint8_t { signal, image, volume, transposed };

/// The window on each side of the input; a signal has height 1.
struct Window {
  Sides kernel, stride, padding, dilation, output_padding;
  bool transposed = false;

  /// Positions from the first to the last element of the dilated kernel.
  std::int64_t reach(std::size_t side) const { return dilation[side] * (kernel[side] - 1) + 1; }
  std::int64_t step(std::size_t side) const { return std::max<std::int64_t>(1, stride[side]); }
  /// Returns the output's side, which is below 1 when the kernel does not fit. "same" padding gives ceil(in /
  /// stride), and in * stride when transposed.
  std::int64_t output_side(std::size_t side, std::int64_t in) const {
    if (transposed) {
      if (padding[side] < 0) return in * step(side);
      return (in - 1) * step(side) - 2 * padding[side] + reach(side) + output_padding[side];
    }
    if (padding[side] < 0) return (in - 1) / step(side) + 1;
    const std::int64_t room = in + 2 * padding[side] - reach(side);
    return room < 0 ? 0 : room / step(side) + 1;
  }
};

/// Returns the window of a layer; the numbers of a signal apply to its length.
Window window_of(const Convolution& own, ConvolutionForm form) {
  if (form != ConvolutionForm::signal) {
    return {own.kernel,   own.stride,         own.padding,
            own.dilation, own.output_padding, form == ConvolutionForm::transposed};
  }
  const auto along = [](std::int64_t height, const Sides& sides) {
    return Sides(std::vector<std::int64_t>{height, sides[0]});
  };
  return {
      along(1, own.kernel), along(1, own.stride), along(0, own.padding), along(1, own.dilation), 0, false};
}

/// Returns the shape of the result; a side below 1 is a misfit that check_convolution() reports.
Shape result_shape(const Convolution& own, const Window& window, const Shape& in) {
  Shape out = in;
  out.size[0] = own.out;
  for (std::size_t side = 0; side < in.sides(); ++side)
    out.size[side + 1] = window.output_side(side, in.size[side + 1]);
  return out;
}

/// Returns a misfit where the input has another kind or the options give another number of sides.
Applied check_input(const Layer& layer, ConvolutionForm form, const Shape& in) {
  const auto& own = layer.get<Convolution>();
  // A transposed convolution runs over images and volumes alike.
  const bool signal = form == ConvolutionForm::signal;
  const ShapeKind wanted = form == ConvolutionForm::volume ? ShapeKind::volume : ShapeKind::image;
  const bool fits = form == ConvolutionForm::transposed ? in.sides() > 0
                                                        : in.kind == wanted && (!signal || in.size[1] == 1);
  if (fits) {
    return check_sides(layer, signal ? 1 : in.sides(),
                       {{"kernel", own.kernel},
                        {"stride", own.stride},
                        {"padding", own.padding},
                        {"dilation", own.dilation},
                        {"output_padding", own.output_padding}});
  }
  const std::string_view needed = signal                        ? "a signal [channels, 1, length]"
                                  : wanted == ShapeKind::volume ? "a volume [channels, depth, height, width]"
                                                                : "an image [channels, height, width]";
  return misfit(fmt::format("{} needs {}, not {}", layer.type->name, needed, to_string(in)),
                in.sides() == 0 ? "place it before flatten"
                                : "choose conv1d, conv2d or conv3d by the number of directions");
}

/// Returns a misfit where the kernel does not fit, groups do not divide, or a tensor is too large.
Applied check_convolution(const Layer& layer, const Window& window, const Shape& in, const Shape& out) {
  const auto& own = layer.get<Convolution>();
  if (*std::min_element(out.size.begin(), out.size.end()) < 1) {
    return misfit(
        fmt::format("a kernel of {} does not fit the input {}", to_string(own.kernel), to_string(in)),
        "use a smaller kernel or more padding");
  }
  if (in.size[0] % own.groups != 0 || own.out % own.groups != 0) {
    return misfit(fmt::format("groups = {} does not divide {} input and {} output channels", own.groups,
                              in.size[0], own.out),
                  "both channel counts must be multiples of groups");
  }
  std::vector<std::int64_t> weights{own.out, in.size[0] / own.groups};
  for (std::size_t side = 0; side < in.sides(); ++side) weights.push_back(window.kernel[side]);
  if (!bounded_product(weights) || !is_bounded(out)) {
    return misfit(fmt::format("{} makes a tensor of more than 2^40 elements", layer.type->name),
                  "use fewer channels or a smaller kernel");
  }
  return {};
}

/// Work of a convolution: elements, class, and the products forward and backward.
struct ConvolutionWork {
  double in = 0, out = 0, weights = 0, bias = 0;  // per sample, but for the weights and the bias
  OperatorClass cls = OperatorClass::conv;
  Product forward, for_input, for_weights;
};

/// Returns the work of one sample in all three products.
ConvolutionWork work_of(const Convolution& own, const Window& window, const Shape& in, const Shape& out) {
  std::int64_t positions = 1;
  for (std::size_t side = 0; side < in.sides(); ++side) positions *= window.kernel[side];
  const auto kernel = static_cast<double>(positions), groups = static_cast<double>(own.groups);
  const double from = static_cast<double>(in.size[0]) / groups,
               to = static_cast<double>(out.size[0]) / groups;
  const auto in_positions = static_cast<double>(in.positions()),
             out_positions = static_cast<double>(out.positions());

  ConvolutionWork work;
  // Elements and products are those of one sample. Products count each group as one of `count`.
  work.in = static_cast<double>(in.elements()), work.out = static_cast<double>(out.elements());
  work.weights = from * to * groups * kernel, work.bias = own.bias ? static_cast<double>(own.out) : 0;
  // Each group has one input channel: the libraries have special kernels for it.
  if (own.groups > 1 && own.groups == in.size[0]) work.cls = OperatorClass::depthwise_conv;
  const auto product = [&](double m, double n, double k, Product::Grows grows) {
    return Product{m,
                   n,
                   k,
                   groups,
                   1,
                   grows,
                   static_cast<std::int32_t>(std::min<std::int64_t>(positions, 1'000'000)),
                   static_cast<std::int32_t>(std::max<std::int64_t>(1, window.stride.most())),
                   {4 * work.weights, 4 * (work.in + work.out)}};
  };
  // A transposed convolution's forward is the other's gradient of the input: the window is in n, not in k.
  if (window.transposed) {
    work.forward = product(in_positions, to * kernel, from, Product::Grows::rows);
    work.for_input = product(in_positions, from, to * kernel, Product::Grows::rows);
    work.for_weights = product(from, to * kernel, in_positions, Product::Grows::depth);
  } else {
    work.forward = product(out_positions, to, from * kernel, Product::Grows::rows);
    work.for_input = product(in_positions, from, to * kernel, Product::Grows::rows);
    work.for_weights = product(to, from * kernel, out_positions, Product::Grows::depth);
  }
  return work;
}

// The bias is added in the same kernel.
Operator convolution_forward_operator(const ConvolutionWork& w) {
  const double bias_flops = w.bias > 0 ? w.out : 0;
  Operator op = make_operator(w.cls, HostCall::conv2d, per_sample(w.forward.flops_per_sample() + bias_flops),
                              {4 * (w.weights + w.bias), 4 * (w.in + w.out)});
  return op.with(w.forward);
}

// The first layer of a network needs no gradient of its input, hence one product less.
Operator convolution_backward_operator(const ConvolutionWork& w, bool input_gradient) {
  const double products = input_gradient ? 2 : 1;
  const double bias_flops = w.bias > 0 ? w.out : 0;
  const double input_bytes = input_gradient ? 8 * w.in : 4 * w.in;
  const int kernels = 1 + (input_gradient ? 1 : 0) + (w.bias > 0 ? 1 : 0);
  Operator op =
      make_operator(w.cls, HostCall::conv2d, per_sample(products * w.forward.flops_per_sample() + bias_flops),
                    {4 * (2 * w.weights + w.bias), 4 * w.out + input_bytes}, kernels);
  if (input_gradient) op.with(w.for_input);
  return op.with(w.for_weights);
}

template <ConvolutionForm form>
Applied apply_convolution(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Convolution>();
  const Shape in = tape.at(input).shape;
  if (Applied fault = check_input(layer, form, in); !fault.ok()) return fault;
  // Window, shape and limits are settled before anything is recorded.
  const Window window = window_of(own, form);
  const Shape out = result_shape(own, window, in);
  if (Applied fault = check_convolution(layer, window, in, out); !fault.ok()) return fault;

  const ConvolutionWork work = work_of(own, window, in, out);
  std::vector<std::uint32_t> ready{tape.parameter("weight", static_cast<std::int64_t>(work.weights))};
  if (own.bias) ready.push_back(tape.parameter("bias", own.out));
  const TensorId result = tape.result(out, {input}, true);
  tape.forward(convolution_forward_operator(work));
  tape.save(input);
  tape.node({{convolution_backward_operator(work, tape.at(input).needs_gradient), ready}}, {input}, result);
  return {result, "", ""};
}

void check_convolution_numbers(const LayerCheck& check) {
  const auto& own = check.layer.get<Convolution>();
  check.range("out", own.out, 1, kWidestLayer);
  check.range("kernel", own.kernel, 1, kLargestStep);
  check.range("stride", own.stride, 0, kLargestStep);
  check.range("padding", own.padding, -1, kLargestStep);
  check.range("dilation", own.dilation, 1, kLargestStep);
  check.range("groups", own.groups, 1, kWidestLayer);
  check.range("output_padding", own.output_padding, 0, kLargestStep);
}

bool is_depthwise(const Convolution& own) { return own.groups > 1 && own.groups == own.out; }

/// Returns the number that widths stay multiples of; depthwise layers adapt their groups instead.
std::int64_t groups_to_keep(const Layer& layer) {
  const auto& own = layer.get<Convolution>();
  return is_depthwise(own) ? 1 : own.groups;
}

// A depthwise layer stays depthwise: its groups grow with its channels.
void widen_convolution(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Convolution>();
  const bool depthwise = is_depthwise(own);
  own.out = wider(own.out);
  if (depthwise) own.groups = own.out;
}

template <ConvolutionForm form>
LayerType convolution_layer(std::string_view name) {
  using C = Convolution;
  LayerType type{.name = name,
                 .keys = {required_key<&C::out>("out"), required_key<&C::kernel>("kernel"),
                          layer_key<&C::stride>("stride"),
                          layer_key<&C::padding>("padding", {.least = 0, .or_same = true}),
                          layer_key<&C::dilation>("dilation"), layer_key<&C::groups>("groups")},
                 .apply = apply_convolution<form>,
                 .check = check_convolution_numbers,
                 .widening = {.sets_width = true, .divisor = groups_to_keep, .widen = widen_convolution}};
  if (form == ConvolutionForm::transposed)
    type.keys.push_back(layer_key<&C::output_padding>("output_padding", {.least = 0}));
  type.keys.push_back(layer_key<&C::bias>("bias"));
  return type;
}

}  // namespace

LayerType conv1d_layer() { return convolution_layer<ConvolutionForm::signal>("conv1d"); }
LayerType conv2d_layer() { return convolution_layer<ConvolutionForm::image>("conv2d"); }
LayerType conv3d_layer() { return convolution_layer<ConvolutionForm::volume>("conv3d"); }
LayerType conv_transpose_layer() { return convolution_layer<ConvolutionForm::transposed>("conv_transpose"); }

}  // namespace foretrain
