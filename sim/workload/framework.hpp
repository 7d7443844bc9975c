// The framework that runs the step, and its mode of execution. They decide the host costs of an operator,
// which kernels are fused, and the layout of tensors.
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
/// The mode of execution. eager: one host call per operator (PyTorch). graph: a graph executor issues
/// operators without Python (tf.function). compiled: element-wise chains are fused and host calls shrink to
/// launches (torch.compile, XLA). cuda_graphs: the whole step is one launch.
enum class Execution : std::uint8_t { eager, graph, compiled, cuda_graphs };
/// The order of images in memory: NCHW or NHWC. 16-bit convolutions on tensor cores need channels last;
/// otherwise each image is transposed.
enum class ImageLayout : std::uint8_t { channels_first, channels_last };

/// The kernel of fused attention. newest: the best one for the GPU's generation (cuDNN, FlashAttention-3, or
/// 2 on Ampere). version_2, version_1 and version_1_triton: FlashAttention-2 and the first version in CUDA or
/// Triton, which run Ampere's instructions on every GPU. unfused: products with a softmax between them, whose
/// scores are in memory.
enum class AttentionKernel : std::uint8_t { newest, version_2, version_1, version_1_triton, unfused };

/// A version that is compared number by number: 1.9 < 1.13.
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
  /// CUDA toolkit whose cuBLAS computes matrix products: the stated one, or that of a stated version. 0.0:
  /// nothing is stated, and a library of today is assumed.
  FrameworkVersion cuda{0, 0};
  /// Kernel of layers with fused attention; PyTorch has FlashAttention-2 since 2.2. Never `unfused`.
  AttentionKernel attention = AttentionKernel::version_2;
};

/// Parses "2.3", "2.3.1" or "1.13.0a0"; whatever follows the second number is ignored. Returns nothing for
/// text that is no version.
std::optional<FrameworkVersion> parse_framework_version(std::string_view text);
/// Returns "2.3".
std::string to_text(FrameworkVersion version);

/// Returns the default of a kind: PyTorch 2.3 eager, or TensorFlow 2.15 as a graph, whose layout pass makes
/// convolutions channels first too. Compilers (XLA, TorchInductor) make them channels last.
Framework usual_framework(FrameworkKind kind);
/// Returns the modes of execution that a framework has, the default one first.
std::vector<Execution> executions_of(FrameworkKind kind);

/// Returns the name as scenario files write it: "pytorch", "eager", ….
std::string_view name_of(FrameworkKind kind);
std::string_view name_of(Execution execution);
/// Returns the name for people: "PyTorch 2.3".
std::string title_of(const Framework& framework);

/// True where no gradient is visible before backward has ended. XLA compiles forward and backward into one
/// cluster, whose outputs appear when it has run. torch.compile cuts its graph where DDP's buckets end.
bool gradients_come_together(const Framework& framework);

/// True where fp32 matrices are multiplied in TF32 on GPUs that have it. Other versions only convolve in it.
bool products_default_to_tf32(const Framework& framework);

}  // namespace foretrain
