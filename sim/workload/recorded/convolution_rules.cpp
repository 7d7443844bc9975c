// Rules of convolutions of any number of directions, transposed ones included. The products are those of
// sim/workload/layers/convolution.cpp, from the sizes of input, weights and result.
#include <algorithm>
#include <cmath>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns the positions of a tensor: the product of its dimensions behind samples and channels.
double positions_of(const TensorAt& tensor) {
  double product = 1;
  for (std::size_t i = 2; i < tensor.rank(); ++i) product *= tensor.dim(static_cast<int>(i));
  return product;
}

/// The sizes of a convolution from which both passes are computed. `from` and `to` are the channels of a
/// group.
struct RecordedConvolution {
  double samples = 0, in_places = 0, out_places = 0, groups = 1, from = 0, to = 0, window = 1;
  double stride = 1;
  bool transposed = false;

  /// Returns a product of m x k by k x n for each group; window and stride choose among its kernels.
  Product product(double m, double n, double k, Product::Grows grows, double bytes) const {
    return {m,
            n,
            k,
            groups,
            1,
            grows,
            static_cast<std::int32_t>(std::clamp(window, 1.0, 1e6)),
            static_cast<std::int32_t>(std::clamp(stride, 1.0, 1e6)),
            {bytes, 0}};
  }
  // The three products. Without transposition, forward sums over the input channels and the window for each
  // position of the result. A transposed convolution spreads each input position over its window instead.
  Product forward(double bytes) const {
    if (transposed) return product(samples * in_places, to * window, from, Product::Grows::rows, bytes);
    return product(samples * out_places, to, from * window, Product::Grows::rows, bytes);
  }
  Product for_input(double bytes) const {
    return product(samples * in_places, from, to * window, Product::Grows::rows, bytes);
  }
  Product for_weights(double bytes) const {
    if (transposed) return product(from, to * window, samples * in_places, Product::Grows::depth, bytes);
    return product(to, from * window, samples * out_places, Product::Grows::depth, bytes);
  }
  /// Returns FLOPs at 2 a multiply-add, the same for all three products.
  double flops() const {
    return 2 * samples * (transposed ? in_places : out_places) * from * to * groups * window;
  }
};

/// Reads the sizes of a convolution from its input, weights and result.
RecordedConvolution convolution_of(const RecordedCall& call, const TensorAt& x, const TensorAt& w,
                                   const TensorAt& y) {
  RecordedConvolution made;
  made.transposed = call.flag("transposed");
  made.groups = std::max(1.0, call.number("groups", 1));
  made.samples = x.dim(0), made.in_places = positions_of(x), made.out_places = positions_of(y);
  made.window = positions_of(w);
  made.from = (made.transposed ? w.dim(0) / made.groups : w.dim(1));
  // The weights of a transposed convolution have the input channels first.
  made.to = (made.transposed ? w.dim(1) : w.dim(0) / made.groups);
  if (const RecordedArgument* stride = call.argument("stride"); stride != nullptr && !stride->numbers.empty())
    made.stride = *std::max_element(stride->numbers.begin(), stride->numbers.end());
  return made;
}

/// Returns the work of a forward call; a third operand is the bias.
std::vector<RecordedWork> convolution_forward(const RecordedCall& call, const OperatorRule&) {
  const TensorAt x = call.in(0), w = call.in(1), y = call.out(0);
  const RecordedConvolution c = convolution_of(call, x, w, y);
  const double bias = call.in_count() > 2 ? y.elements() : 0;
  return {{c.flops() + bias,
           call.in_bytes() + call.out_bytes(),
           1,
           {c.forward(x.bytes() + w.bytes() + y.bytes())}}};
}

/// True where two tensors have the same dimensions.
bool same_size(const TensorAt& a, const TensorAt& b) {
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (a.dim(static_cast<int>(i)) != b.dim(static_cast<int>(i))) return false;
  }
  return true;
}

/// The gradients that a backward call makes.
struct GradientMask {
  bool input = false, weights = false, bias = false;
};

/// Returns the gradients by `output_mask`, or else by the sizes of the results.
GradientMask gradients_made(const RecordedCall& call, const TensorAt& x, const TensorAt& w) {
  const RecordedArgument* mask = call.argument("output_mask");
  if (mask != nullptr && mask->numbers.size() == 3)
    return {mask->numbers[0] != 0, mask->numbers[1] != 0, mask->numbers[2] != 0};
  GradientMask made;
  for (std::size_t i = 0; i < call.out_count(); ++i) {
    const TensorAt out = call.out(i);
    if (!made.input && !made.weights && same_size(out, x))
      made.input = true;
    else if (!made.weights && same_size(out, w))
      made.weights = true;
    else if (out.rank() == 1 && out.elements() > 0)
      made.bias = true;
  }
  return made;
}

// Operands of backward are the result's gradient, the input and the weights.
std::vector<RecordedWork> convolution_backward(const RecordedCall& call, const OperatorRule&) {
  const TensorAt dy = call.in(0), x = call.in(1), w = call.in(2);
  const RecordedConvolution c = convolution_of(call, x, w, dy);
  const GradientMask made = gradients_made(call, x, w);
  const double each = x.bytes() + w.bytes() + dy.bytes();
  // Every gradient that is made is a kernel; the operands are read once for all of them.
  RecordedWork work;
  work.flops = ((made.input ? 1 : 0) + (made.weights ? 1 : 0)) * c.flops() + (made.bias ? dy.elements() : 0);
  work.kernels = std::max(1, (made.input ? 1 : 0) + (made.weights ? 1 : 0) + (made.bias ? 1 : 0));
  if (made.input) work.products.push_back(c.for_input(each)), work.bytes += x.bytes();
  if (made.weights) work.products.push_back(c.for_weights(each)), work.bytes += w.bytes();
  if (made.bias) work.bytes += w.bytes() / std::max(1.0, w.elements()) * dy.dim(1);
  work.bytes += each;
  return {work};
}

// Words for docs/models/networks.md. MAC stands for multiply-adds.
constexpr std::string_view kForwardFlops = "2 MAC, + out with bias",
                           kBackwardFlops = "2 MAC for each of input and weights, + out for the bias",
                           kTheirBytes = "operands + results";

// Rows of both passes; they differ in the order of their operands.
OperatorRule forward_row(std::string_view name) {
  return {name, OperatorClass::conv, HostCall::conv2d, kForwardFlops, kTheirBytes, convolution_forward,
          0,    OperatorRole::alone};
}

OperatorRule backward_row(std::string_view name) {
  return {name, OperatorClass::conv, HostCall::conv2d, kBackwardFlops, kTheirBytes, convolution_backward,
          0,    OperatorRole::alone};
}

}  // namespace

// The names of all libraries and numbers of directions share two rules.
std::vector<OperatorRule> convolution_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name :
       {"convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution", "miopen_convolution",
        "conv1d", "conv2d", "conv3d", "_conv_depthwise2d", "conv_depthwise3d", "thnn_conv2d", "slow_conv3d"})
    rows.push_back(forward_row(name));
  for (const char* name : {"convolution_backward", "mkldnn_convolution_backward"})
    rows.push_back(backward_row(name));
  return rows;
}

}  // namespace foretrain
