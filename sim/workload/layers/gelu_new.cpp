// GELU by its tanh formula written out in Python, as Hugging Face's NewGELUActivation does: eight operators
// forward, eleven backward.
//
// The formula is 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Kept are x, 0.5 x, the tanh and 1 + tanh:
// four tensors where the fused GELU keeps one.
#include <array>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Numbers of tensors of the input's size that each operator reads and writes.
constexpr std::array<int, 8> kForward{2, 2, 2, 3, 2, 2, 2, 3};
constexpr std::array<int, 11> kBackward{3, 3, 3, 2, 2, 2, 2, 3, 3, 2, 3};
constexpr int kKept = 4;

Operator pass(double n, int tensors) {
  return make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(n),
                       per_sample(4 * n * tensors));
}

/// Records the fused kernel that some fine-tuning tools put in place of the formula.
Applied apply_fused_gelu(Tape& tape, TensorId input) {
  constexpr double kFlops = 8;
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  const TensorId result = tape.result(tape.at(input).shape, {input}, false);
  const auto kernel = [n](int tensors) {
    return make_operator(OperatorClass::elementwise, HostCall::gelu, per_sample(kFlops * n),
                         per_sample(4 * n * tensors));
  };
  tape.forward(kernel(2));
  tape.save(input);
  tape.node({{kernel(3), {}}}, {input}, result);
  return {result, "", ""};
}

// Unless the kernel is fused, each operator of the formula is a call and a pass of its own.
Applied apply_gelu_new(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit("gelu_new cannot work on token ids", "place an embedding first");
  if (tape.trainability().tuning().fuses(FusedKernel::gelu)) return apply_fused_gelu(tape, input);
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(in, {input}, false);
  for (const int tensors : kForward) tape.forward(pass(n, tensors));
  if (tape.at(result).needs_gradient) {
    // The input is a tensor of the tape; the other kept ones belong to no layer.
    tape.save(input);
    tape.save(per_sample((kKept - 1) * 4 * n));
  }
  std::vector<BackwardStep> steps;
  for (const int tensors : kBackward) steps.push_back({pass(n, tensors), {}});
  tape.node(std::move(steps), {input}, result);
  return {result, "", ""};
}

}  // namespace

LayerType gelu_new_layer() { return {.name = "gelu_new", .apply = apply_gelu_new}; }

}  // namespace foretrain
