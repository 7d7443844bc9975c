// Predicted against measured times of single kernels, row by row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/validation/error_groups.hpp"
#include "sim/scenario/csv/kernel_rows.hpp"

namespace foretrain {

/// A measured kernel with its prediction; times are in microseconds.
struct ValidatedKernel {
  const KernelOperator* op = nullptr;
  std::string gpu, precision, shape;
  double measured = 0, predicted = 0;
  /// True on a GPU whose kernels identified the constants.
  bool is_seen = false;
  /// True if it is long enough to tell something about the kernel (least_scored_us).
  bool is_scored = false;
  /// Returns predicted / measured - 1.
  double error() const { return predicted / measured - 1; }
};

/// Measured kernels against predictions, by class of operator.
struct KernelValidation {
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  /// Errors of the scored rows on GPUs that no constant was fitted to.
  ErrorStatistics error;
  /// Errors of the scored rows on the others.
  ErrorStatistics seen;
  int unseen_rows = 0, seen_rows = 0;
  /// The rows in the order of the file.
  std::vector<ValidatedKernel> kernels;
};

/// Returns the shortest measured time that is scored: 200 us for products, 50 us for kernels that move bytes
/// and for kernels of large models, 0 for convolutions. Shorter times tell more about the measurement than
/// about the kernel.
double least_scored_us(KernelClass cls);

/// Returns the GPUs whose kernels identified the constants of this class: those of product_time,
/// convolution_time and the measurement, or those of tensor_product_time and fused_attention_time. All other
/// GPUs are the test.
const std::vector<std::string>& gpus_of_kernel_constants(KernelClass cls);

/// Predicts every row. A kernel runs as PyTorch runs it by itself, one call after the other with a wait
/// between, in the row's precision (fp32: without TF32), with cuDNN's fastest algorithm. Kernels of large
/// models run as TensorRT-LLM runs them in a CUDA graph. Rows in a precision that the GPU lacks are skipped.
/// Throws InputError for an unknown GPU.
KernelValidation validate_kernels(const std::vector<KernelMeasurement>& rows,
                                  const Progress& progress = nullptr);

/// Returns the names of all keys: "class", "gpu", "precision", "op", "size" (of measured times).
const std::vector<std::string>& kernel_group_keys();

/// Groups the rows of one half (is_seen or not) by such keys, like group_errors(), without intervals. Only
/// scored rows count, unless "size" is one of the keys.
std::vector<ErrorGroup> group_kernel_errors(const KernelValidation& validation, const GroupKeys& keys,
                                            bool is_seen);

}  // namespace foretrain
