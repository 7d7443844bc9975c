// Fused kernels: each does in one launch what transformers' Python does in several, and keeps less for
// backward.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// The fused kernels.
/// - rms_norm: one kernel each way; the input and a root for each row are kept.
/// - swiglu: the activation of a gate and its product with the other branch; backward computes the activated
///   gate again.
/// - rope: both rotated halves in one pass.
/// - gelu: the tanh formula, of which transformers' `gelu_new` keeps four tensors.
/// - flash_attention: the kernel reads the keys and values of a group in place, without a copy for each head.
/// - cross_entropy: the loss writes its gradient over the scores.
/// - linear_cross_entropy: the head's product and the loss run on a part of the rows at a time, so that the
///   scores are never in memory as a whole.
/// - lora: a product and its adapter are one function, which keeps its input once. Behind a fused gate it
///   keeps nothing, because backward makes the gate's result again from both branches.
enum class FusedKernel : std::uint8_t {
  rms_norm,
  swiglu,
  rope,
  gelu,
  flash_attention,
  cross_entropy,
  linear_cross_entropy,
  lora
};

/// A set of fused kernels.
class FusedKernels {
 public:
  constexpr FusedKernels() = default;
  constexpr FusedKernels(std::initializer_list<FusedKernel> kernels) {
    for (const FusedKernel kernel : kernels) add(kernel);
  }
  constexpr void add(FusedKernel kernel) { bits_ = static_cast<std::uint8_t>(bits_ | bit(kernel)); }
  constexpr void add(FusedKernels kernels) { bits_ = static_cast<std::uint8_t>(bits_ | kernels.bits_); }
  constexpr void remove(FusedKernel kernel) { bits_ = static_cast<std::uint8_t>(bits_ & ~bit(kernel)); }
  constexpr bool has(FusedKernel kernel) const { return (bits_ & bit(kernel)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(FusedKernels, FusedKernels) = default;

 private:
  static constexpr unsigned bit(FusedKernel kernel) { return 1U << static_cast<unsigned>(kernel); }
  std::uint8_t bits_ = 0;
};

/// The fused kernels that a compiler makes of transformers' operators. Its partition of the graph saves a
/// tensor only where computing it again would need more than element-wise work
/// (torch/_functorch/partitioners.py, min_cut_rematerialization_partition). For a norm it saves the input and
/// a root for each row, for a gate both branches and their product, for GELU its input.
inline constexpr FusedKernels kCompiledKernels{FusedKernel::rms_norm, FusedKernel::swiglu, FusedKernel::rope,
                                               FusedKernel::gelu};

/// Returns the kernels that a word stands for: one of them, or a library that has several ("liger",
/// "unsloth", "flash_attn"). Returns nothing for an unknown word.
std::optional<FusedKernels> fused_kernels_named(std::string_view word);

/// Returns all known words: "rms_norm, swiglu, …, liger, …".
std::string known_fused_kernels();

/// Returns the names of a set: "rms_norm, swiglu".
std::string to_string(FusedKernels kernels);

}  // namespace foretrain
