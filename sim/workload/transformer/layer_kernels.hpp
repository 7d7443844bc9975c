// The kernels that frameworks for large models cut a layer into, and their host costs: one row for each
// framework.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/device/transformer_kernels.hpp"

namespace foretrain {

/// The frameworks for large models whose kernels and exchanges are modelled.
enum class LlmFramework : std::uint8_t {
  nanotron,
  megatron,
  megatron_te,
  torchtitan,
  deepspeed,
  megatron_deepspeed,
  llm_foundry,
  internevo,
  maxtext,
  pytorch
};

/// The rule by which a framework assigns layers to the stages of a pipeline.
enum class StageSplit : std::uint8_t { equal, by_cost };

/// The way in which context ranks bring keys and values together, and their gradients back.
/// - joined: keys and values in one message, gradients along with them in 16 bits (Transformer Engine).
/// - torch: the same forward. Backward passes the gradients in fp32 by messages of their own, also where keys
///   and values are gathered (torch.distributed.tensor.experimental).
/// - apart: keys and values are gathered in a message each and kept, and their gradients are scattered in the
///   same way (torchtitan).
enum class ContextHabit : std::uint8_t { joined, torch, apart };

/// The kernels and host costs of one framework. Passes count how often a kernel reads or writes its tensor,
/// in elements of 16 bits; those of fp32 count twice.
struct LayerKernels {
  LlmFramework framework{};
  std::string_view name;
  /// Passes over a norm's input.
  double norm_passes = 2, norm_backward_passes = 3;
  int norm_launches = 1, norm_backward_launches = 2;
  /// Passes over queries and keys, in each direction.
  double rotary_passes = 2;
  int rotary_launches = 1;
  double attention_copies = 0;  ///< passes over queries, keys and values besides, each way
  int attention_copy_launches = 0;
  AttentionKernel attention = AttentionKernel::newest;
  /// Small kernels that make cumulated lengths again in every layer.
  int length_launches = 0;
  double gate_passes = 3;  ///< over the inner width: two read, one written
  double gate_backward_passes = 5;
  int gate_launches = 1, gate_backward_launches = 1;
  double saved_inner = 3;  ///< tensors of the inner width kept for backward
  /// Kept copies of queries, keys and values, beside one of each.
  double saved_attention_copies = 0;
  /// Rows of experts kept: their input and, where probabilities are applied behind the experts, their result.
  double saved_expert_rows = 2;
  double loss_passes = 6;  ///< over the logits, forward; fp32 twice
  double loss_backward_passes = 4;
  /// Bytes of each logit when most of them are in memory.
  double saved_logit_bytes = 6;
  /// Selective recomputation keeps every second product's result and the attention core's (torchtitan's
  /// activation_checkpoint.mode = "selective" by operator). Other frameworks keep all but the attention core.
  bool selects_by_operator = false;
  bool weight_gradients_add = false;  ///< the product itself adds to fp32 main gradients
  /// Products behind a gathered input: own share, those before, those behind.
  int pieces_of_gathered = 1;
  /// The gradient of a row layer is gathered in backward beside the product of the rank's own share.
  bool overlaps_row_backward = false;
  // Messages (docs/judges.md).
  ContextHabit context = ContextHabit::joined;
  /// Backward gathers a column layer's input again where there is sequence parallelism.
  bool regathers_inputs = true;
  /// The gradient of the input of queries, keys and values, and of gate and up, is summed once for each
  /// matrix.
  bool sums_each_matrix = false;
  /// Logits are gathered over tensor ranks, instead of a loss cut by vocabulary.
  bool gathers_logits = false;
  bool gathers_ahead = true;          ///< forward asks for sharded parameters a layer ahead
  bool gathers_experts_ahead = true;  ///< the same where experts are cut over ranks
  /// Ranks send each other the number of tokens of each expert, which the host reads.
  bool sends_expert_counts = false;
  bool keeps_in_pipeline = false;  ///< stages gather sharded parameters once a step, and reduce once
  /// Bytes of each value when data-parallel ranks sum gradients.
  double gradient_bytes = 4;
  /// The buffer in which micro-batches add up gradients has the type that is summed, not always fp32.
  bool adds_in_summed_type = false;
  StageSplit split = StageSplit::equal;
  bool overlaps_gradients = true;       ///< summed beside the last backward pass
  bool gathers_behind_forward = false;  ///< updated parameters come back while the next step begins
  bool pipeline_waits_on_host = false;  ///< the host waits for every exchange between stages
  bool pipeline_sends_sizes = false;    ///< messages of their own tell shapes; the host reads them
  // Host costs on the reference CPU.
  Time launch = microseconds(9);            ///< a kernel and the call that leads to it
  Time exchange = microseconds(25);         ///< a collective through the process group
  Time python_function = microseconds(30);  ///< forward or backward of a function of autograd in Python
  Time layer = microseconds(60);            ///< modules and hooks of a layer, each way
  /// Additional time, in a pipeline, of each exchange among tensor ranks, for every one of these ranks
  /// (docs/models/large_models.md).
  Time pipeline_skew{};
};

/// Returns the rows of all frameworks, and the row of one. References stay valid for the program's life.
const std::vector<LayerKernels>& layer_kernels();
const LayerKernels& layer_kernels_of(LlmFramework framework);
/// Returns the framework with this name, or nothing.
std::optional<LlmFramework> find_llm_framework(std::string_view name);

}  // namespace foretrain
