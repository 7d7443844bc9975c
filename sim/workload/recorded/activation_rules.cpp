// Rules of activations. FLOPs an element are those of the layers of the same name.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with `each` FLOPs an element, by the elements of the result.
OperatorRule activation_row(std::string_view name, double each, HostCall call = HostCall::activation) {
  return {
      name, OperatorClass::elementwise, call, each == 8 ? "8 n" : "n", "operands + results", work_by_result,
      each};
}

}  // namespace

// GELU and the gradients of SiLU and Mish count 8 FLOPs an element, all others 1.
std::vector<OperatorRule> activation_rules() {
  std::vector<OperatorRule> rows{activation_row("gelu", 8, HostCall::gelu),
                                 activation_row("gelu_backward", 8, HostCall::gelu)};
  for (const char* name : {"silu_backward", "mish_backward"}) rows.push_back(activation_row(name, 8));
  for (const char* name : {"relu",
                           "threshold",
                           "threshold_backward",
                           "hardtanh",
                           "hardtanh_backward",
                           "relu6",
                           "silu",
                           "mish",
                           "sigmoid",
                           "sigmoid_backward",
                           "tanh",
                           "tanh_backward",
                           "hardswish",
                           "hardswish_backward",
                           "hardsigmoid",
                           "hardsigmoid_backward",
                           "leaky_relu",
                           "leaky_relu_backward",
                           "elu",
                           "elu_backward",
                           "celu",
                           "selu",
                           "softplus",
                           "softplus_backward",
                           "softshrink",
                           "softshrink_backward",
                           "hardshrink",
                           "hardshrink_backward",
                           "prelu",
                           "prelu_backward",
                           "_prelu_kernel",
                           "_prelu_kernel_backward",
                           "glu",
                           "glu_backward",
                           "log_sigmoid",
                           "log_sigmoid_forward",
                           "log_sigmoid_backward",
                           "rrelu_with_noise",
                           "rrelu_with_noise_backward"})
    rows.push_back(activation_row(name, 1));
  return rows;
}

}  // namespace foretrain
