// Rules of dropout: one kernel on a GPU, whose FLOPs are those of the three operators that a CPU runs.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with `each` FLOPs an element of the result, and those FLOPs in words.
OperatorRule dropout_row(std::string_view name, std::string_view flops, double each, OperatorRole role) {
  return {
      name, OperatorClass::elementwise, HostCall::dropout, flops, "operands + results", work_by_result, each,
      role};
}

}  // namespace

// bernoulli begins a dropout that a CPU runs in parts; call_groups.cpp joins them.
std::vector<OperatorRule> dropout_rules() {
  return {
      dropout_row("native_dropout", "3 n", 3, OperatorRole::alone),
      dropout_row("_fused_dropout", "3 n", 3, OperatorRole::alone),
      dropout_row("native_dropout_backward", "n", 1, OperatorRole::alone),
      dropout_row("_masked_scale", "n", 1, OperatorRole::alone),
      dropout_row("bernoulli", "n; with the product behind it as native_dropout", 1, OperatorRole::random)};
}

}  // namespace foretrain
