// Rules of normalizations: 8 FLOPs an element forward, 12 backward; bytes of all operands and results.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns a row with 8 FLOPs an element of the result forward, and 12 backward.
OperatorRule norm_row(std::string_view name, HostCall call, bool backward, bool half_capable, int kernels) {
  return {name,
          OperatorClass::normalization,
          call,
          backward ? "12 n" : "8 n",
          "operands + results",
          work_by_result,
          backward ? 12.0 : 8.0,
          OperatorRole::alone,
          half_capable,
          kernels};
}

}  // namespace

// Batch norms run in 16 bits under autocast; layer and group norms stay in 32.
std::vector<OperatorRule> normalization_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name : {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm",
                           "_native_batch_norm_legit", "batch_norm", "_native_batch_norm_legit_functional",
                           "_batch_norm_with_update", "_batch_norm_impl_index"})
    rows.push_back(norm_row(name, HostCall::batch_norm, false, true, 1));
  for (const char* name : {"native_batch_norm_backward", "cudnn_batch_norm_backward",
                           "miopen_batch_norm_backward", "batch_norm_backward"})
    rows.push_back(norm_row(name, HostCall::batch_norm, true, true, 1));
  for (const char* name : {"native_layer_norm", "native_group_norm", "_fused_rms_norm", "rms_norm"})
    rows.push_back(norm_row(name, HostCall::layer_norm, false, false, 1));
  for (const char* name :
       {"native_layer_norm_backward", "native_group_norm_backward", "_fused_rms_norm_backward"})
    rows.push_back(norm_row(name, HostCall::layer_norm, true, false, 2));
  return rows;
}

}  // namespace foretrain
