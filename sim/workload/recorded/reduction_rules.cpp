// Rules of reductions: one FLOP an element of the operand.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with one FLOP an element of the first operand.
OperatorRule reduction_row(std::string_view name, HostCall call, OperatorRole role) {
  return {name, OperatorClass::reduction, call, "in", "operands + results", work_by_operand, 1, role};
}

}  // namespace

// Sums may be the gradient of a bias, and a mean is a call like a pool's; all others are calls of their own.
std::vector<OperatorRule> reduction_rules() {
  std::vector<OperatorRule> rows{reduction_row("sum", HostCall::add, OperatorRole::sum),
                                 reduction_row("sum_to_size", HostCall::add, OperatorRole::sum),
                                 reduction_row("mean", HostCall::pooling, OperatorRole::alone)};
  for (const char* name : {"amax",
                           "amin",
                           "_is_all_true",
                           "_weight_norm_interface",
                           "_weight_norm_interface_backward",
                           "torchvision::nms",
                           "max",
                           "min",
                           "aminmax",
                           "argmax",
                           "argmin",
                           "prod",
                           "norm",
                           "linalg_vector_norm",
                           "std",
                           "var",
                           "var_mean",
                           "std_mean",
                           "logsumexp",
                           "cumsum",
                           "cumprod",
                           "cummax",
                           "any",
                           "all",
                           "topk",
                           "sort",
                           "argsort",
                           "nonzero",
                           "median",
                           "count_nonzero",
                           "trace",
                           "dot",
                           "vdot",
                           "bincount",
                           "histc",
                           "unique",
                           "_unique2",
                           "unique_consecutive",
                           "searchsorted",
                           "bucketize",
                           "equal",
                           "_amp_foreach_non_finite_check_and_unscale",
                           "_cdist_forward",
                           "_pdist_forward",
                           "multinomial"})
    rows.push_back(reduction_row(name, HostCall::activation, OperatorRole::alone));
  return rows;
}

}  // namespace foretrain
