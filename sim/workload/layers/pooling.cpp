// Pooling, with windows of a fixed size or with a fixed number of windows. Work is counted by visits:
// elements that the windows hold, each once for every window.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Options of max_pool and avg_pool.
struct Pool {
  Sides kernel = 0, stride = 0, padding = 0;  ///< a stride of 0 is the kernel
  bool ceil = false;                          ///< the last window may hang over the edge
};
struct AdaptivePool {
  std::int64_t out = 1;  ///< windows a side
};

/// Returns a misfit where the input has no sides or the options give another number of them.
Applied need_sides(const Layer& layer, const Shape& in) {
  const auto& own = layer.get<Pool>();
  if (in.sides() > 0)
    return check_sides(layer, in.sides(),
                       {{"kernel", own.kernel}, {"stride", own.stride}, {"padding", own.padding}});
  return misfit(
      fmt::format("{} needs an image [channels, height, width], not {}", layer.type->name, to_string(in)),
      "place it before flatten");
}

/// The result of sliding a window over an input: its shape and the window's size, or a misfit.
struct Windows {
  Shape out;
  /// Positions of one window.
  double positions = 1;
  Applied fault;
};

/// Returns the number of windows along a side. With `ceil` a last window may hang over the edge, if it begins
/// inside the input or its left padding.
std::int64_t output_side(const Pool& own, std::size_t side, std::int64_t in) {
  const std::int64_t stride = own.stride[side] == 0 ? own.kernel[side] : own.stride[side];
  const std::int64_t room = in + 2 * own.padding[side] - own.kernel[side];
  if (room < 0) return 0;
  std::int64_t windows = (own.ceil ? room + stride - 1 : room) / stride + 1;
  if (own.ceil && (windows - 1) * stride >= in + own.padding[side]) --windows;
  return windows;
}

/// Returns the windows of a pool over an input, or the reason why they do not fit.
Windows windows_of(const Layer& layer, const Shape& in) {
  const auto& own = layer.get<Pool>();
  Windows windows;
  if (windows.fault = need_sides(layer, in); !windows.fault.ok()) return windows;
  windows.out = in;
  for (std::size_t side = 0; side < in.sides(); ++side) {
    const std::int64_t made = output_side(own, side, in.size[side + 1]);
    if (made < 1) {
      windows.fault = misfit(
          fmt::format("a window of {} does not fit the input {}", to_string(own.kernel), to_string(in)),
          "use a smaller kernel");
      return windows;
    }
    windows.out.size[side + 1] = made;
    windows.positions *= static_cast<double>(own.kernel[side]);
  }
  if (!is_bounded(windows.out))
    windows.fault = misfit("the pool makes a tensor of more than 2^40 elements", "use less padding");
  return windows;
}

/// FLOPs and bytes of a pool, each way, and the visits of its windows.
struct PoolWork {
  double flops_forward = 0, bytes_forward = 0, flops_backward = 0, bytes_backward = 0;
  /// Visits in each direction.
  double visits = 0;
};

/// Records a pool: one kernel forward and one backward, with the same visits.
Applied record_pool(Tape& tape, const Shape& out, TensorId input, const PoolWork& work) {
  const TensorId result = tape.result(out, {input}, false);
  Operator forward = make_operator(OperatorClass::pooling, HostCall::pooling, per_sample(work.flops_forward),
                                   per_sample(work.bytes_forward)),
           backward = make_operator(OperatorClass::pooling, HostCall::pooling,
                                    per_sample(work.flops_backward), per_sample(work.bytes_backward));
  forward.visits = backward.visits = per_sample(work.visits);
  tape.forward(forward);
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

// Backward needs the input and the 8-byte index of each window's maximum.
Applied apply_max_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Windows windows = windows_of(layer, tape.at(input).shape);
  if (!windows.fault.ok()) return windows.fault;
  const auto in = static_cast<double>(tape.at(input).shape.elements()),
             out = static_cast<double>(windows.out.elements());
  if (tape.at(input).needs_gradient) {
    tape.save(input);
    tape.save(per_sample(8 * out));
  }
  return record_pool(
      tape, windows.out, input,
      {windows.positions * out, 4 * in + 12 * out, in, 8 * in + 12 * out, windows.positions * out});
}

// The mean of each window; the input is kept for backward.
Applied apply_avg_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Windows windows = windows_of(layer, tape.at(input).shape);
  if (!windows.fault.ok()) return windows.fault;
  const auto in = static_cast<double>(tape.at(input).shape.elements()),
             out = static_cast<double>(windows.out.elements());
  if (tape.at(input).needs_gradient) tape.save(input);
  return record_pool(
      tape, windows.out, input,
      {windows.positions * out, 4 * (in + out), in, 8 * in + 4 * out, windows.positions * out});
}

// A pool to one value per channel is a mean, whose backward spreads the gradient. It keeps its input all the
// same.
Applied apply_adaptive_avg_pool(Tape& tape, const Layer& layer, TensorId input) {
  const Shape shape = tape.at(input).shape;
  if (Applied fault = need_sides(layer, shape); !fault.ok()) return fault;
  const std::int64_t side = std::max<std::int64_t>(1, layer.get<AdaptivePool>().out);
  Shape made = shape;
  for (std::size_t i = 1; i <= shape.sides(); ++i) made.size[i] = side;
  if (!is_bounded(made))
    return misfit("adaptive_avg_pool makes a tensor of more than 2^40 elements", "use a smaller out");
  const auto in = static_cast<double>(shape.elements()), out = static_cast<double>(made.elements());
  if (tape.at(input).needs_gradient) tape.save(input);
  if (side == 1) return record_pool(tape, made, input, {in, 4 * (in + out), in, 8 * in});
  return record_pool(tape, made, input, {in, 4 * (in + out), in, 8 * in + 4 * out});
}

void check_pool(const LayerCheck& check) {
  const auto& own = check.layer.get<Pool>();
  const std::int64_t kernel = own.kernel.least();
  check.range("kernel", own.kernel, 1, kLargestStep);
  check.range("stride", own.stride, 0, kLargestStep);
  // Padding is at most half of the kernel, as PyTorch requires.
  if (own.kernel.count == 1 && own.padding.count == 1)
    check.range("padding", own.padding, 0, kernel >= 1 && kernel <= kLargestStep ? kernel / 2 : kLargestStep);
  else
    for (std::size_t side = 0; side < 3; ++side)
      check.range("padding", own.padding[side], 0, std::max<std::int64_t>(0, own.kernel[side] / 2));
}

void check_adaptive_pool(const LayerCheck& check) {
  check.range("out", check.layer.get<AdaptivePool>().out, 0, kLargestStep);
}

LayerType pool_layer(std::string_view name, Applied (*apply)(Tape&, const Layer&, TensorId)) {
  return {.name = name,
          .keys = {required_key<&Pool::kernel>("kernel"), layer_key<&Pool::stride>("stride"),
                   layer_key<&Pool::padding>("padding", {.least = 0, .or_same = true}),
                   layer_key<&Pool::ceil>("ceil")},
          .apply = apply,
          .check = check_pool};
}

}  // namespace

LayerType max_pool_layer() { return pool_layer("max_pool", apply_max_pool); }
LayerType avg_pool_layer() { return pool_layer("avg_pool", apply_avg_pool); }
LayerType adaptive_avg_pool_layer() {
  return {.name = "adaptive_avg_pool",
          .keys = {layer_key<&AdaptivePool::out>("out")},
          .apply = apply_adaptive_avg_pool,
          .check = check_adaptive_pool};
}

}  // namespace foretrain
