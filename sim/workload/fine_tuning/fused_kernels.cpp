// The table of fused kernels, and of the libraries that have several of them.
#include "sim/workload/fine_tuning/fused_kernels.hpp"

#include <algorithm>
#include <iterator>

namespace foretrain {

namespace {

struct NamedKernels {
  std::string_view word;
  FusedKernels kernels;
};

using enum FusedKernel;

// Rows in the order of FusedKernel, which to_string() relies on.
constexpr NamedKernels kSingleKernels[] = {{"rms_norm", {rms_norm}},
                                           {"swiglu", {swiglu}},
                                           {"rope", {rope}},
                                           {"gelu", {gelu}},
                                           {"flash_attention", {flash_attention}},
                                           {"cross_entropy", {cross_entropy}},
                                           {"linear_cross_entropy", {linear_cross_entropy}},
                                           {"lora", {lora}}};

/// The kernels of each library.
/// - liger: liger_kernel/transformers/monkey_patch.py, apply_liger_kernel_to_llama's defaults.
/// - unsloth: unsloth/kernels (rms_layernorm.py, rope_embedding.py, swiglu.py, fast_lora.py), its cut cross
///   entropy, and attention that reads the groups of keys in place (its FastLlamaModel).
/// - flash_attn: flash_attn/ops (rms_norm, cross_entropy, rotary), with xFormers' swiglu beside them, as
///   TinyLlama trains.
constexpr NamedKernels kKernelLibraries[] = {
    {"liger", {rms_norm, swiglu, rope, linear_cross_entropy}},
    {"unsloth", {rms_norm, swiglu, rope, flash_attention, linear_cross_entropy, lora}},
    {"flash_attn", {rms_norm, swiglu, rope, flash_attention, cross_entropy}}};

void append(std::string& list, std::string_view word) {
  if (!list.empty()) list += ", ";
  list += word;
}

}  // namespace

std::optional<FusedKernels> fused_kernels_named(std::string_view word) {
  const auto single = std::ranges::find(kSingleKernels, word, &NamedKernels::word);
  if (single != std::end(kSingleKernels)) return single->kernels;
  const auto library = std::ranges::find(kKernelLibraries, word, &NamedKernels::word);
  if (library != std::end(kKernelLibraries)) return library->kernels;
  return std::nullopt;
}

std::string known_fused_kernels() {
  std::string list;
  for (const NamedKernels& row : kSingleKernels) append(list, row.word);
  for (const NamedKernels& row : kKernelLibraries) append(list, row.word);
  return list;
}

std::string to_string(FusedKernels kernels) {
  std::string list;
  for (std::size_t i = 0; i < std::size(kSingleKernels); ++i) {
    if (kernels.has(static_cast<FusedKernel>(i))) append(list, kSingleKernels[i].word);
  }
  return list;
}

}  // namespace foretrain
