// Predicted against measured times of single kernels, row by row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/validation/error_groups.hpp"
#include "sim/scenario/csv/kernel_rows.hpp"

namespace foretrain {

/// Times in microseconds.
struct ValidatedKernel {
  const KernelOperator* op = nullptr;
  std::string gpu, precision, shape;
  double measured = 0, predicted = 0;
  bool is_seen = false;    ///< on a GPU whose kernels identified the constants
  bool is_scored = false;  ///< long enough to say something of the kernel (least_scored_us)
  double error() const { return predicted / measured - 1; }
};

/// Measured kernels against predictions, by class of operator.
struct KernelValidation {
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  ErrorStatistics error;  ///< of the scored rows on GPUs that no constant knows
  ErrorStatistics seen;   ///< of those on the others
  int unseen_rows = 0, seen_rows = 0;
  std::vector<ValidatedKernel> kernels;  ///< all rows, as in the file
};

/// Shorter measured times say more of the measurement than of the kernel: 200 us for products, 50 us for what
/// moves bytes and for kernels of large models, 0 for convolutions.
double least_scored_us(KernelClass cls);

/// GPUs whose kernels identified the constants of product_time, convolution_time and of the measurement, and
/// those of tensor_product_time and fused_attention_time; all others are the test.
const std::vector<std::string>& gpus_of_kernel_constants(KernelClass cls);

/// The kernel as PyTorch runs it alone, one call after the other with a wait between, in the row's precision
/// (fp32: without TF32), cuDNN taking the fastest algorithm; of large models as TensorRT-LLM runs it in a
/// CUDA graph. Rows in a precision that the GPU does not have are skipped.
KernelValidation validate_kernels(const std::vector<KernelMeasurement>& rows,
                                  const Progress& progress = nullptr);

/// "class", "gpu", "precision", "op", "size": of measured times.
const std::vector<std::string>& kernel_group_keys();

/// As group_errors(), by such keys, without intervals; of the rows of one half, scored ones alone unless
/// asked for by "size".
std::vector<ErrorGroup> group_kernel_errors(const KernelValidation& validation, const GroupKeys& keys,
                                            bool is_seen);

}  // namespace foretrain
