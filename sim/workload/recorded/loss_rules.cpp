// Rules of softmax and losses, which stay in 32 bits under autocast.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with 8 FLOPs an element that stays in 32 bits.
OperatorRule softmax_row(std::string_view name) {
  return {name,  OperatorClass::reduction, HostCall::softmax,
          "8 n", "operands + results",     work_by_result,
          8,     OperatorRole::alone,      false};
}

/// Counts FLOPs by element of the first operand. The differences are written and read again.
std::vector<RecordedWork> elementwise_loss(const RecordedCall& call, const OperatorRule& rule) {
  const double n = call.in(0).elements();
  return {{rule.each * n, call.in_bytes() + call.out_bytes() + 2 * call.in(0).bytes(), 2}};
}

/// Returns a row of a loss, which stays in 32 bits.
OperatorRule loss_row(std::string_view name, std::string_view flops, double each,
                      std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&)) {
  return {name, OperatorClass::reduction, HostCall::loss, flops, "operands + results", work,
          each, OperatorRole::alone,      false};
}

}  // namespace

// FLOPs an element are those of the layer `loss`.
std::vector<OperatorRule> loss_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name :
       {"_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data", "softmax",
        "log_softmax", "_safe_softmax", "_masked_softmax", "_masked_softmax_backward"})
    rows.push_back(softmax_row(name));
  for (const char* name : {"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d", "nll_loss_nd",
                           "cross_entropy_loss"})
    rows.push_back(loss_row(name, "2 a result", 2, work_by_result));
  for (const char* name : {"nll_loss_backward", "nll_loss2d_backward"})
    rows.push_back(loss_row(name, "n", 1, work_by_result));
  for (const char* name : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"})
    rows.push_back(loss_row(name, "3 n", 3, elementwise_loss));
  for (const char* name :
       {"mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward", "soft_margin_loss_backward"})
    rows.push_back(loss_row(name, "2 n", 2, work_by_result));
  for (const char* name : {"binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div",
                           "multilabel_margin_loss_forward", "multi_margin_loss"})
    rows.push_back(loss_row(name, "9 n", 9, elementwise_loss));
  rows.push_back(loss_row("binary_cross_entropy_backward", "8 n", 8, work_by_result));
  for (const char* name : {"_ctc_loss", "_cudnn_ctc_loss"})
    rows.push_back(loss_row(name, "8 n", 8, work_by_operand));
  rows.push_back(loss_row("_ctc_loss_backward", "8 n", 8, work_by_result));
  return rows;
}

}  // namespace foretrain
