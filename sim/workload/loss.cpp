// Cross entropy over the last dimension: a log-softmax, then the negative log-likelihood of the target, averaged.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {

Applied apply_loss(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("loss needs [classes] or [sequence, classes], not {}", to_string(in)), "place flatten and linear before it");
  }
  const auto n = static_cast<double>(in.elements()), targets = static_cast<double>(in.rows());
  const TensorId log_probabilities = apply_softmax(tape, Layer{}, input).tensor;
  const TensorId result = tape.result(Shape::features(1), {log_probabilities}, false);
  Operator forward = make_operator(OperatorClass::reduction, HostCall::loss, {2, 0}, {8, 4 * n + 8 * targets});
  // Two kernels backward: the first writes the gradient of the loss itself, a one.
  Operator backward = make_operator(OperatorClass::reduction, HostCall::loss, {1, n}, {16, 8 * n + 8 * targets}, 2);
  forward.half_capable = backward.half_capable = false;
  tape.forward(forward);
  if (tape.at(result).needs_gradient) tape.save(Amount{4, 8 * targets});
  tape.node({{backward, {}}}, {log_probabilities}, result);
  return {result, "", ""};
}

}  // namespace foretrain
