// Measured times of single kernels: operator, shape, precision, GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/csv/csv_record.hpp"

namespace foretrain {

/// Classes of kernels: the limit of the operator's speed, and the notation of its shape.
enum class KernelClass { product, convolution, pointwise, softmax, layer_norm, tensor_product, attention };

/// Returns the name of a class in messages, such as "product".
std::string_view name_of(KernelClass cls);

/// One operator of the files: its name, its class, and how many tensors a pointwise operator reads and
/// writes.
struct KernelOperator {
  std::string_view name;
  KernelClass cls;
  int tensors = 2;
};

/// Returns all operators: bmm, linear, conv, add, gemm, attention_fwd_causal, …
const std::vector<KernelOperator>& kernel_operators();

/// Numbers of a shape. Products: a batch of rows x depth times depth x columns. Convolutions: a batch of
/// channels x side x side, with `columns` filters of window x window. Attention: a batch of `rows` tokens,
/// with heads of `columns` numbers. All others: rows of `columns` numbers.
struct KernelShape {
  std::int64_t batch = 1, rows = 1, depth = 1, columns = 1;
  std::int64_t channels = 1, side = 1, window = 1, stride = 1, padding = 0;
  std::int64_t heads = 1, kv_heads = 1;
  /// Returns the side of a convolution's result.
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

/// Return the columns op,shape,precision,gpu,time_us, and the optional ones kernel,source.
const std::vector<std::string>& kernel_columns();
const std::vector<std::string>& optional_kernel_columns();

/// Upper limits of a number in a shape, and of the elements of one of its tensors.
inline constexpr std::int64_t kMostInShape = std::int64_t{1} << 31;
inline constexpr double kMostKernelElements = 1e15;

/// Reads one row; returns nullopt for a row without a valid shape, which is reported. `gpus`: names of the
/// catalog. The start of a name is accepted if only one name begins with it ("b200").
std::optional<KernelMeasurement> read_kernel(const CsvRecord& record, const std::vector<std::string>& gpus);

}  // namespace foretrain
