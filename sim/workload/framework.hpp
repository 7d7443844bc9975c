// Which framework runs the step and how: it decides what an operator costs the host, which kernels are fused,
// how tensors are laid out.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The frameworks whose host calls and kernels are modelled.
enum class FrameworkKind : std::uint8_t { pytorch, tensorflow };
/// eager: one host call per operator (PyTorch). graph: a graph executor issues operators without Python
/// (tf.function). compiled: element- wise chains are fused and host calls shrink to launches (torch.compile,
/// XLA). cuda_graphs: the whole step is one launch.
enum class Execution : std::uint8_t { eager, graph, compiled, cuda_graphs };
/// Images in memory: NCHW or NHWC. 16-bit convolutions on tensor cores want channels last; otherwise each is
/// transposed.
enum class ImageLayout : std::uint8_t { channels_first, channels_last };

/// Whose fused attention: the best of the GPU's generation (cuDNN, FlashAttention-3, or 2 on Ampere); or a
/// version of FlashAttention, of which 2 and the first, in CUDA or Triton, run Ampere's instructions
/// everywhere. `unfused`: products with a softmax between them, whose scores lie in memory.
enum class AttentionKernel : std::uint8_t { newest, version_2, version_1, version_1_triton, unfused };

/// Compared number by number: 1.9 < 1.13.
struct FrameworkVersion {
  int major = 2, minor = 3;
  friend auto operator<=>(const FrameworkVersion&, const FrameworkVersion&) = default;
};

/// The framework that runs the step: its kind, version and execution mode. The version decides defaults that
/// changed over time.
struct Framework {
  FrameworkKind kind = FrameworkKind::pytorch;
  Execution execution = Execution::eager;
  ImageLayout layout = ImageLayout::channels_first;
  FrameworkVersion version;  ///< decides defaults that changed (optimizer form, zero_grad, TF32 in products)
  /// CUDA toolkit whose cuBLAS computes matrix products, as stated or as it comes with a stated version; 0.0:
  /// nothing is stated, and a library of today is assumed.
  FrameworkVersion cuda{0, 0};
  /// Of layers with fused attention; PyTorch brings FlashAttention-2 since 2.2. Never `unfused`.
  AttentionKernel attention = AttentionKernel::version_2;
};

/// "2.3", "2.3.1", "1.13.0a0": what follows the second number does not matter. Nothing when it is no version.
std::optional<FrameworkVersion> parse_framework_version(std::string_view text);
std::string to_text(FrameworkVersion version);

/// What runs when nothing is said: PyTorch 2.3 eager, TensorFlow 2.15 as a graph, whose layout pass makes
/// convolutions channels first too; compilers (XLA, TorchInductor) make them channels last.
Framework usual_framework(FrameworkKind kind);
/// The ways of running this framework offers, the usual one first.
std::vector<Execution> executions_of(FrameworkKind kind);

/// "pytorch", "eager", … as scenario files write them.
std::string_view name_of(FrameworkKind kind);
std::string_view name_of(Execution execution);
/// "PyTorch 2.3".
std::string title_of(const Framework& framework);

/// Whether nothing outside sees a gradient before backward has ended: XLA compiles forward and backward into
/// one cluster, whose outputs come when it has run. torch.compile cuts its graph where DDP's buckets end.
bool gradients_come_together(const Framework& framework);

/// Whether fp32 matrices are multiplied in TF32 on GPUs that have it; other versions only convolve in it.
bool products_default_to_tf32(const Framework& framework);

}  // namespace foretrain
