// The names of kernels tell what they compute. Rows are searched in order and the first match counts, so
// specific words come before general ones.
#include <algorithm>
#include <array>

#include "sim/analysis/traces/trace_summary.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// A word in a kernel's name, in lower case, and the kind that it means.
struct KernelWord {
  std::string_view word, kind;
};

/// Words in order of precedence: "depthwise" and cuDNN's copies between layouts and types come before "conv",
/// and "gemm" after cuDNN's convolutions, whose names may contain it.
constexpr std::array kKernelWords{
    KernelWord{"multi_tensor_apply", "elementwise"},
    KernelWord{"flash", "attention"},
    KernelWord{"fmha", "attention"},
    KernelWord{"attention", "attention"},
    KernelWord{"batch_norm", "normalization"},
    KernelWord{"batchnorm", "normalization"},
    KernelWord{"bn_fw", "normalization"},
    KernelWord{"bn_bw", "normalization"},
    KernelWord{"layer_norm", "normalization"},
    KernelWord{"layernorm", "normalization"},
    KernelWord{"group_norm", "normalization"},
    KernelWord{"rms_norm", "normalization"},
    KernelWord{"depthwise", "depthwise_conv"},
    KernelWord{"dgrad", "conv"},
    KernelWord{"wgrad", "conv"},
    KernelWord{"fprop", "conv"},
    KernelWord{"convolve", "conv"},
    KernelWord{"implicit", "conv"},
    KernelWord{"winograd", "conv"},
    KernelWord{"fft2d", "conv"},
    KernelWord{"scudnn", "conv"},
    KernelWord{"cudnn::nchwto", "copy"},
    KernelWord{"cudnn::nhwcto", "copy"},
    KernelWord{"nchwtonhwc", "copy"},
    KernelWord{"nhwctonchw", "copy"},
    KernelWord{"converttensor", "copy"},
    KernelWord{"conv", "conv"},
    KernelWord{"cask_cudnn", "conv"},
    KernelWord{"xmma", "conv"},
    KernelWord{"gemm", "gemm"},
    KernelWord{"gemv", "gemm"},
    KernelWord{"splitk", "gemm"},
    KernelWord{"cutlass", "gemm"},
    KernelWord{"cublas", "gemm"},
    KernelWord{"pool", "pooling"},
    KernelWord{"embedding", "embedding"},
    KernelWord{"index", "embedding"},
    KernelWord{"gather", "embedding"},
    KernelWord{"scatter", "embedding"},
    KernelWord{"softmax", "reduction"},
    KernelWord{"nll_loss", "reduction"},
    KernelWord{"reduce", "reduction"},
    KernelWord{"sum", "reduction"},
    KernelWord{"catarray", "copy"},
    KernelWord{"copy", "copy"},
    KernelWord{"transpose", "copy"},
    KernelWord{"elementwise", "elementwise"},
    KernelWord{"triton", "elementwise"},
    KernelWord{"dropout", "elementwise"},
    KernelWord{"threshold", "elementwise"},
};

/// Returns the text without everything between these brackets, nested ones included.
std::string without_brackets(std::string_view text, char open, char close) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == open)
      ++depth;
    else if (c == close && depth > 0)
      --depth;
    else if (depth == 0)
      out.push_back(c);
  }
  return out;
}

}  // namespace

std::string_view kernel_kind(std::string_view name) {
  if (is_collective_kernel(name)) return "communication";
  // Very long template names are cut; the telling words come early.
  const std::string lower = lower_case(name.substr(0, 400));
  for (const KernelWord& row : kKernelWords) {
    if (lower.find(row.word) != std::string::npos) return row.kind;
  }
  return "other";
}

std::string short_kernel_name(std::string_view name) {
  std::string text(name);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = text.find(kAnonymous); at != std::string::npos; at = text.find(kAnonymous))
    text.erase(at, kAnonymous.size());
  if (text.starts_with("void ")) text.erase(0, 5);
  const bool is_copy = text.starts_with("Mem");
  if (!is_copy) text = without_brackets(without_brackets(text, '<', '>'), '(', ')');
  for (const std::string_view prefix : {"at::native::", "cudnn::", "at::"}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  return printable(shortened(trimmed(text), 60));
}

std::int64_t counted_bytes(const TraceCollective& collective) {
  // nccl-tests states the larger side of a gather and of a scatter of parts.
  if (collective.op == "all_gather" || collective.op == "gather")
    return std::max(collective.out_bytes(), collective.in_bytes());
  return collective.in_bytes();
}

double bus_factor(std::string_view op, int ranks) {
  const double n = ranks;
  if (ranks < 2) return 0;
  if (op == "all_reduce") return 2 * (n - 1) / n;
  for (const std::string_view parted : {"all_gather", "reduce_scatter", "alltoall", "gather", "scatter"}) {
    if (op == parted) return (n - 1) / n;
  }
  return 1;
}

}  // namespace foretrain
