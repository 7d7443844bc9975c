// Convolutions: one call forward; backward computes the input's, the weights' and the bias's gradient in up to three kernels.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

/// Output side, 0 when the kernel does not fit. "same" padding gives ceil(in / stride).
std::int64_t output_side(const Layer& layer, std::int64_t in, std::int64_t stride) {
  if (layer.padding < 0) return (in - 1) / stride + 1;
  const std::int64_t reach = layer.dilation * (layer.kernel - 1) + 1;
  const std::int64_t room = in + 2 * layer.padding - reach;
  return room < 0 ? 0 : room / stride + 1;
}

struct ConvolutionWork {
  double in = 0, out = 0, weights = 0, bias = 0, macs = 0;  // per sample, but for the weights and the bias
  OperatorClass cls = OperatorClass::conv;
};

Operator forward_operator(const ConvolutionWork& w) {
  const double bias_flops = w.bias > 0 ? w.out : 0;
  return make_operator(w.cls, HostCall::conv2d, per_sample(2 * w.macs + bias_flops), {4 * (w.weights + w.bias), 4 * (w.in + w.out)});
}

Operator backward_operator(const ConvolutionWork& w, bool input_gradient) {
  const double products = input_gradient ? 2 : 1;
  const double bias_flops = w.bias > 0 ? w.out : 0;
  const double input_bytes = input_gradient ? 8 * w.in : 4 * w.in;
  const int kernels = 1 + (input_gradient ? 1 : 0) + (w.bias > 0 ? 1 : 0);
  return make_operator(w.cls, HostCall::conv2d, per_sample(2 * products * w.macs + bias_flops),
                       {4 * (2 * w.weights + w.bias), 4 * w.out + input_bytes}, kernels);
}

Applied check_convolution(const Layer& layer, const Shape& in, const Shape& out) {
  if (out.size[1] < 1 || out.size[2] < 1) {
    return misfit(fmt::format("a kernel of {} does not fit the input {}", layer.kernel, to_string(in)),
                  "use a smaller kernel or more padding");
  }
  if (in.size[0] % layer.groups != 0 || layer.out % layer.groups != 0) {
    return misfit(fmt::format("groups = {} does not divide {} input and {} output channels", layer.groups, in.size[0], layer.out),
                  "both channel counts must be multiples of groups");
  }
  if (!bounded_product({layer.out, in.size[0] / layer.groups, layer.kernel, layer.kernel}) ||
      !bounded_product({out.size[0], out.size[1], out.size[2]})) {
    return misfit("conv2d makes a tensor of more than 2^40 elements", "use fewer channels or a smaller kernel");
  }
  return {};
}

}  // namespace

Applied apply_conv2d(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::image) {
    return misfit(fmt::format("conv2d needs an image [channels, height, width], not {}", to_string(in)), "place it before flatten");
  }
  const std::int64_t stride = layer.stride == 0 ? 1 : layer.stride;
  const Shape out = Shape::image(layer.out, output_side(layer, in.size[1], stride), output_side(layer, in.size[2], stride));
  if (Applied fault = check_convolution(layer, in, out); !fault.ok()) return fault;

  const std::int64_t window = in.size[0] / layer.groups * layer.kernel * layer.kernel;
  ConvolutionWork work;
  work.in = static_cast<double>(in.elements()), work.out = static_cast<double>(out.elements());
  work.weights = static_cast<double>(layer.out * window), work.bias = layer.bias ? static_cast<double>(layer.out) : 0;
  work.macs = work.out * static_cast<double>(window);
  if (layer.groups > 1 && layer.groups == in.size[0]) work.cls = OperatorClass::depthwise_conv;

  std::vector<std::uint32_t> ready{tape.parameter("weight", layer.out * window)};
  if (layer.bias) ready.push_back(tape.parameter("bias", layer.out));
  const TensorId result = tape.result(out, {input}, true);
  tape.forward(forward_operator(work));
  tape.save(input);
  tape.node({{backward_operator(work, tape.at(input).needs_gradient), ready}}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
