// Measured times of single kernels: what ran, in which shape, on which GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/csv/csv_record.hpp"

namespace foretrain {

/// What limits a kernel's operator, and how its shape is written.
enum class KernelClass { product, convolution, pointwise, softmax, layer_norm, tensor_product, attention };

/// "product", …
std::string_view name_of(KernelClass cls);

/// One operator of the files: its name, its class, and how many tensors a pointwise one reads and writes.
struct KernelOperator {
  std::string_view name;
  KernelClass cls;
  int tensors = 2;
};

/// bmm, linear, conv, add, gemm, attention_fwd_causal, …
const std::vector<KernelOperator>& kernel_operators();

/// Numbers of a shape. Products: batch of rows x depth by depth x columns; convolutions: batch of channels x
/// side x side, `columns` filters of window x window; attention: batch of `rows` tokens, `columns` numbers
/// wide a head; all others: rows of `columns` numbers.
struct KernelShape {
  std::int64_t batch = 1, rows = 1, depth = 1, columns = 1;
  std::int64_t channels = 1, side = 1, window = 1, stride = 1, padding = 0;
  std::int64_t heads = 1, kv_heads = 1;
  std::int64_t result_side() const { return (side + 2 * padding - window) / stride + 1; }
};

/// One measured kernel: operator, shape, precision, GPU and time.
struct KernelMeasurement {
  const KernelOperator* op = nullptr;
  KernelShape shape;
  std::string shape_text, precision, gpu;
  double time_us = 0;
  std::string kernel, source;
  int line = 0;
};

/// op,shape,precision,gpu,time_us, and kernel,source that may be missing.
const std::vector<std::string>& kernel_columns();
const std::vector<std::string>& optional_kernel_columns();

/// Largest number in a shape, and largest number of elements of one of its tensors.
inline constexpr std::int64_t kMostInShape = std::int64_t{1} << 31;
inline constexpr double kMostKernelElements = 1e15;

/// Nothing for a row without a shape. `gpus`: those that there are; the start of a name will do where only
/// one begins so ("b200").
std::optional<KernelMeasurement> read_kernel(const CsvRecord& record, const std::vector<std::string>& gpus);

}  // namespace foretrain
