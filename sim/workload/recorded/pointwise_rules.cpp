// Rules of operators that compute each element of the result from the same element of the operands: one FLOP
// an element, and the bytes of all operands and results.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with one FLOP an element of the result.
OperatorRule pointwise_row(std::string_view name, HostCall call) {
  return {name, OperatorClass::elementwise, call, "n", "operands + results", work_by_result, 1};
}

}  // namespace

std::vector<OperatorRule> pointwise_rules() {
  std::vector<OperatorRule> rows;
  // Arithmetic of two tensors is a call like an addition, all others are calls like an activation.
  for (const char* name : {"add", "sub", "mul", "div", "rsub", "maximum", "minimum", "addcmul", "addcdiv"})
    rows.push_back(pointwise_row(name, HostCall::add));
  for (const char* name : {"neg",
                           "abs",
                           "sign",
                           "sgn",
                           "exp",
                           "exp2",
                           "expm1",
                           "log",
                           "log2",
                           "log10",
                           "log1p",
                           "sqrt",
                           "rsqrt",
                           "reciprocal",
                           "pow",
                           "square",
                           "sin",
                           "cos",
                           "tan",
                           "asin",
                           "acos",
                           "atan",
                           "atan2",
                           "sinh",
                           "cosh",
                           "asinh",
                           "acosh",
                           "atanh",
                           "erf",
                           "erfc",
                           "erfinv",
                           "floor",
                           "ceil",
                           "round",
                           "trunc",
                           "frac",
                           "clamp",
                           "clamp_min",
                           "clamp_max",
                           "clip",
                           "fmod",
                           "remainder",
                           "hypot",
                           "logit",
                           "lerp",
                           "xlogy",
                           "nan_to_num",
                           "isnan",
                           "isinf",
                           "isfinite",
                           "eq",
                           "ne",
                           "lt",
                           "le",
                           "gt",
                           "ge",
                           "logical_and",
                           "logical_or",
                           "logical_not",
                           "logical_xor",
                           "bitwise_and",
                           "bitwise_or",
                           "bitwise_not",
                           "bitwise_xor",
                           "bitwise_left_shift",
                           "bitwise_right_shift",
                           "__and__",
                           "__or__",
                           "__xor__",
                           "__lshift__",
                           "__rshift__",
                           "where",
                           "masked_fill",
                           "sinc",
                           "angle",
                           "complex",
                           "polar",
                           "floor_divide",
                           "true_divide",
                           "heaviside",
                           "copysign",
                           "logaddexp",
                           "special_expit",
                           "digamma",
                           "lgamma",
                           "i0",
                           "fmax",
                           "fmin",
                           "uniform",
                           "normal",
                           "random",
                           "rand",
                           "randn",
                           "randint",
                           "rand_like",
                           "randn_like",
                           "randint_like",
                           "exponential",
                           "log_normal",
                           "_amp_update_scale_",
                           "masked_fill_scalar",
                           "softmax_backward_data"})
    rows.push_back(pointwise_row(name, HostCall::activation));
  return rows;
}

}  // namespace foretrain
