// Holds names that tell what a recorded call is: whose work it is, and whether it covers all work of its
// caller.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

namespace {

/// Inner operators that recorded networks know by these names; users call outer operators, which call these.
constexpr std::array<std::string_view, 30> kKnownInner{"aten::convolution",
                                                       "aten::convolution_backward",
                                                       "aten::native_batch_norm",
                                                       "aten::cudnn_batch_norm",
                                                       "aten::native_layer_norm",
                                                       "aten::native_layer_norm_backward",
                                                       "aten::addmm",
                                                       "aten::mm",
                                                       "aten::bmm",
                                                       "aten::baddbmm",
                                                       "aten::_softmax",
                                                       "aten::_softmax_backward_data",
                                                       "aten::_log_softmax",
                                                       "aten::_log_softmax_backward_data",
                                                       "aten::nll_loss_forward",
                                                       "aten::nll_loss_backward",
                                                       "aten::max_pool2d_with_indices",
                                                       "aten::max_pool2d_with_indices_backward",
                                                       "aten::threshold_backward",
                                                       "aten::cudnn_batch_norm_backward",
                                                       "aten::native_batch_norm_backward",
                                                       "aten::mean",
                                                       "aten::gelu_backward",
                                                       "aten::embedding_dense_backward",
                                                       "aten::native_dropout",
                                                       "aten::native_dropout_backward",
                                                       "aten::_scaled_dot_product_flash_attention",
                                                       "aten::_scaled_dot_product_efficient_attention",
                                                       "aten::index_select",
                                                       "aten::embedding"};

}  // namespace

bool is_zero_grad_mark(std::string_view name) { return name.starts_with("Optimizer.zero_grad#"); }

/// Names of c10d, of the backends' records, and of torch.distributed in Python.
bool is_communication_call(std::string_view name) {
  return name.starts_with("c10d::") || name.starts_with("nccl:") || name.starts_with("gloo:") ||
         name == "record_param_comms" || name.starts_with("torch::distributed::") ||
         name.starts_with("torch.distributed.");
}

bool is_known_inner(std::string_view name) {
  return std::ranges::find(kKnownInner, name) != kKnownInner.end();
}

/// SGD scales the gradients' averages in place when it has momentum; nothing else tells the two apart.
std::string optimizer_called(std::string_view torch_name, bool scales) {
  if (torch_name == "SGD") return scales ? "momentum" : "sgd";
  for (const auto& [torch, ours] :
       {std::pair{"Adam", "adam"}, std::pair{"AdamW", "adamw"}, std::pair{"Adagrad", "adagrad"},
        std::pair{"Adadelta", "adadelta"}, std::pair{"RMSprop", "rmsprop"}}) {
    if (torch_name == torch) return ours;
  }
  return "";
}

}  // namespace foretrain
