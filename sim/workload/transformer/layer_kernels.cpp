// Kernels of the frameworks by their sources and counts (docs/models/large_models.md). A value that no source
// gives is that of the most similar framework.
#include "sim/workload/transformer/layer_kernels.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// nanotron: eager PyTorch operators around flash attention, and norms by Triton. The product of a gathered
/// input is done in three.
LayerKernels nanotron() {
  return {.framework = LlmFramework::nanotron,
          .name = "nanotron",
          .norm_passes = 2,
          .norm_backward_passes = 4,
          .norm_launches = 1,
          .norm_backward_launches = 2,
          .rotary_passes = 2,
          .rotary_launches = 2,
          .attention_copies = 4,
          .attention_copy_launches = 4,
          .attention = AttentionKernel::version_2,
          .length_launches = 7,
          .gate_passes = 5,
          .gate_backward_passes = 13,
          .gate_launches = 2,
          .gate_backward_launches = 4,
          .saved_inner = 4,
          .saved_attention_copies = 1,
          .loss_passes = 20,
          .loss_backward_passes = 8,
          .saved_logit_bytes = 14,
          .pieces_of_gathered = 3,
          .overlaps_row_backward = true,
          .split = StageSplit::by_cost,
          .pipeline_waits_on_host = true,
          .pipeline_sends_sizes = true,
          .launch = microseconds(20.5),
          .exchange = microseconds(68),
          .python_function = microseconds(68),
          .layer = microseconds(170),
          .pipeline_skew = microseconds(205)};
}

/// Megatron-LM with Transformer Engine: norm and product in one module, fused rotary positions, gate and
/// loss. The product adds weight gradients to fp32.
LayerKernels megatron_te() {
  return {.framework = LlmFramework::megatron_te,
          .name = "megatron",
          .rotary_passes = 2,
          .rotary_launches = 2,
          .saved_expert_rows = 1,
          .loss_passes = 6,
          .loss_backward_passes = 4,
          .weight_gradients_add = true,
          .adds_in_summed_type = true,
          .gathers_behind_forward = true,
          .pipeline_waits_on_host = true,
          .launch = microseconds(8),
          .exchange = microseconds(25),
          .python_function = microseconds(40),
          .layer = microseconds(80)};
}

/// Megatron-LM's own modules before Transformer Engine: softmax and bias are fused, and some parts need one
/// kernel more.
LayerKernels megatron() {
  LayerKernels row = megatron_te();
  row.framework = LlmFramework::megatron, row.name = "megatron-core-local";
  row.attention_copies = 2, row.attention_copy_launches = 2;
  row.gate_passes = 4, row.gate_backward_passes = 6;
  return row;
}

/// torchtitan: torch.compile fuses the work between products.
LayerKernels torchtitan() {
  return {.framework = LlmFramework::torchtitan,
          .name = "torchtitan",
          .attention_copies = 2,
          .attention_copy_launches = 2,
          .attention = AttentionKernel::version_2,
          .loss_passes = 8,
          .loss_backward_passes = 6,
          .selects_by_operator = true,
          .context = ContextHabit::apart,
          .regathers_inputs = false,
          .gathers_ahead = false,
          .sends_expert_counts = true,
          .keeps_in_pipeline = true,
          .launch = microseconds(6),
          .layer = microseconds(60)};
}

/// DeepSpeed: Megatron's modules without its overlap of gradients and its fused accumulation.
LayerKernels deepspeed() {
  LayerKernels row = megatron();
  row.framework = LlmFramework::deepspeed, row.name = "deepspeed";
  row.weight_gradients_add = row.gathers_behind_forward = row.overlaps_gradients = false;
  row.adds_in_summed_type = false;
  return row;
}

/// Megatron-DeepSpeed and GPT-NeoX as their scripts of 2022 start them: Megatron-LM's modules of that time.
/// Their attention keeps all scores unless --use-flash-attn (added later) is given.
LayerKernels megatron_deepspeed() {
  LayerKernels row = deepspeed();
  row.framework = LlmFramework::megatron_deepspeed, row.name = "megatron-deepspeed";
  row.attention = AttentionKernel::unfused;
  return row;
}

/// LLM Foundry: eager modules under FSDP1, layer norms in fp32 or 16 bit, flash attention by Triton or CUDA.
LayerKernels llm_foundry() {
  return {.framework = LlmFramework::llm_foundry,
          .name = "llm-foundry",
          .norm_passes = 4,
          .norm_backward_passes = 6,
          .norm_launches = 2,
          .norm_backward_launches = 3,
          .rotary_passes = 0,
          .rotary_launches = 0,
          .attention_copies = 2,
          .attention_copy_launches = 2,
          .attention = AttentionKernel::version_2,
          .gate_passes = 2,
          .gate_backward_passes = 3,
          .loss_passes = 10,
          .loss_backward_passes = 6,
          .launch = microseconds(9),
          .layer = microseconds(150)};
}

/// InternEvo: Megatron's modules with FlashAttention-2.
LayerKernels internevo() {
  LayerKernels row = megatron();
  row.framework = LlmFramework::internevo, row.name = "internevo";
  row.attention = AttentionKernel::version_2;
  row.weight_gradients_add = row.gathers_behind_forward = row.adds_in_summed_type = false;
  row.launch = microseconds(10);
  return row;
}

/// MaxText: XLA makes one program, so the host does nothing between kernels.
LayerKernels maxtext() {
  LayerKernels row = torchtitan();
  row.framework = LlmFramework::maxtext, row.name = "maxtext";
  row.regathers_inputs = row.gathers_ahead = true, row.keeps_in_pipeline = false;
  row.sends_expert_counts = row.selects_by_operator = false, row.context = ContextHabit::joined;
  row.launch = row.layer = row.python_function = Time{};
  row.exchange = microseconds(2);
  return row;
}

/// A script's own eager modules (Hugging Face's Llama): RMSNorm in six kernels, rotary positions in ten over
/// halves, silu and its product apart.
LayerKernels pytorch() {
  LayerKernels row = llm_foundry();
  row.framework = LlmFramework::pytorch, row.name = "pytorch";
  row.norm_passes = 12, row.norm_backward_passes = 18;
  row.norm_launches = 6, row.norm_backward_launches = 10;
  row.rotary_passes = 10, row.rotary_launches = 10;
  row.gate_passes = 5, row.gate_backward_passes = 8;
  row.gate_launches = 2, row.gate_backward_launches = 3;
  row.saved_inner = 4;
  row.regathers_inputs = row.gathers_ahead = row.gathers_experts_ahead = false;
  row.sends_expert_counts = row.keeps_in_pipeline = true, row.context = ContextHabit::torch;
  row.sums_each_matrix = row.gathers_logits = true;
  return row;
}

}  // namespace

const std::vector<LayerKernels>& layer_kernels() {
  static const std::vector<LayerKernels> kRows{
      nanotron(),           megatron(),    megatron_te(), torchtitan(), deepspeed(),
      megatron_deepspeed(), llm_foundry(), internevo(),   maxtext(),    pytorch()};
  return kRows;
}

const LayerKernels& layer_kernels_of(LlmFramework framework) {
  return *std::ranges::find(layer_kernels(), framework, &LayerKernels::framework);
}

std::optional<LlmFramework> find_llm_framework(std::string_view name) {
  const auto row = std::ranges::find(layer_kernels(), name, &LayerKernels::name);
  return row == layer_kernels().end() ? std::nullopt : std::optional(row->framework);
}

}  // namespace foretrain
