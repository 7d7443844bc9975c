// Pooling: windows of a fixed size, or as many windows as asked for.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

Applied need_image(const Layer& layer, const Shape& in) {
  if (in.kind == ShapeKind::image) return {};
  return misfit(fmt::format("{} needs an image [channels, height, width], not {}", row_of(layer.type).name, to_string(in)),
                "place it before flatten");
}

struct Windows {
  Shape out;
  Applied fault;
};

Windows windows_of(const Layer& layer, const Shape& in) {
  Windows windows;
  if (windows.fault = need_image(layer, in); !windows.fault.ok()) return windows;
  const std::int64_t stride = layer.stride == 0 ? layer.kernel : layer.stride;
  const std::int64_t height = in.size[1] + 2 * layer.padding - layer.kernel, width = in.size[2] + 2 * layer.padding - layer.kernel;
  if (height < 0 || width < 0) {
    windows.fault = misfit(fmt::format("a window of {} does not fit the input {}", layer.kernel, to_string(in)), "use a smaller kernel");
    return windows;
  }
  windows.out = Shape::image(in.size[0], height / stride + 1, width / stride + 1);
  if (!bounded_product({windows.out.size[0], windows.out.size[1], windows.out.size[2]})) {
    windows.fault = misfit("the pool makes a tensor of more than 2^40 elements", "use less padding");
  }
  return windows;
}

struct PoolWork {
  double flops_forward = 0, bytes_forward = 0, flops_backward = 0, bytes_backward = 0;
};

Applied record_pool(Tape& tape, const Shape& out, TensorId input, const PoolWork& work) {
  const TensorId result = tape.result(out, {input}, false);
  tape.forward(make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(work.flops_forward), per_sample(work.bytes_forward)));
  tape.node(
      {{make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(work.flops_backward), per_sample(work.bytes_backward)), {}}},
      {input}, result);
  return {result, "", ""};
}

}  // namespace

// Keeps its input and the 8-byte index of each window's maximum.
Applied apply_max_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Windows windows = windows_of(layer, tape.at(input).shape);
  if (!windows.fault.ok()) return windows.fault;
  const auto in = static_cast<double>(tape.at(input).shape.elements()), out = static_cast<double>(windows.out.elements());
  const auto window = static_cast<double>(layer.kernel * layer.kernel);
  if (tape.at(input).needs_gradient) {
    tape.save(input);
    tape.save(per_sample(8 * out));
  }
  return record_pool(tape, windows.out, input, {window * out, 4 * in + 12 * out, in, 8 * in + 12 * out});
}

Applied apply_avg_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Windows windows = windows_of(layer, tape.at(input).shape);
  if (!windows.fault.ok()) return windows.fault;
  const auto in = static_cast<double>(tape.at(input).shape.elements()), out = static_cast<double>(windows.out.elements());
  const auto window = static_cast<double>(layer.kernel * layer.kernel);
  if (tape.at(input).needs_gradient) tape.save(input);
  return record_pool(tape, windows.out, input, {window * out, 4 * (in + out), in, 8 * in + 4 * out});
}

// To one value per channel it is a mean, whose backward spreads the gradient without the input.
Applied apply_adaptive_avg_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Shape shape = tape.at(input).shape;
  if (Applied fault = need_image(layer, shape); !fault.ok()) return fault;
  const std::int64_t side = layer.out == 0 ? 1 : layer.out;
  if (!bounded_product({shape.size[0], side, side})) {
    return misfit("adaptive_avg_pool makes a tensor of more than 2^40 elements", "use a smaller out");
  }
  const Shape made = Shape::image(shape.size[0], side, side);
  const auto in = static_cast<double>(shape.elements()), out = static_cast<double>(made.elements());
  if (side == 1) return record_pool(tape, made, input, {in, 4 * (in + out), in, 8 * in});
  if (tape.at(input).needs_gradient) tape.save(input);
  return record_pool(tape, made, input, {in, 4 * (in + out), in, 8 * in + 4 * out});
}

}  // namespace foretrain
