// A row becomes the operator that a network with such a layer would run, on a GPU whose libraries do not
// round to TF32. The time that the measurement adds to a kernel is added here and nowhere in a training.
#include "sim/analysis/validation/kernel_validation.hpp"

#include <algorithm>
#include <map>

#include "sim/base/named_rows.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/row_passes.hpp"
#include "sim/workload/device/tensor_product_time.hpp"
#include "sim/workload/device/traffic_time.hpp"
#include "sim/workload/device/transformer_kernels.hpp"

namespace foretrain {

namespace {

/// Overhead of NeuSight's loop, which records an event, calls PyTorch, records another and waits. The GPU
/// idles until the call's kernel is launched, and no time is shorter than the host takes from event to event.
/// Both values are medians over the smallest kernels of gpus_of_kernel_constants() (docs/models/kernels.md).
struct MeasuredCall {
  /// Time from the first event to the kernel's start.
  double before_us;
  /// Time from event to event.
  double least_us;
};

/// Returns the overhead by class of kernel; kernels of a graph follow each other without any.
MeasuredCall call_of(KernelClass cls) {
  switch (cls) {
    case KernelClass::product:
      return {15, 40};
    case KernelClass::convolution:
      return {200, 200};
    case KernelClass::pointwise:
      return {14, 32};
    case KernelClass::softmax:
      return {18, 38};
    case KernelClass::layer_norm:
      return {33, 50};
    case KernelClass::tensor_product:
    case KernelClass::attention:
      break;
  }
  return {0, 0};
}

double number(std::int64_t value) { return static_cast<double>(value); }

Operator product_operator(const KernelShape& s) {
  Product p;
  p.m = number(s.rows), p.n = number(s.columns), p.k = number(s.depth), p.count = number(s.batch);
  p.bytes = {4 * p.count * (p.m * p.k + p.k * p.n + p.m * p.n), 0};
  Operator op;
  op.cls = OperatorClass::gemm, op.call = HostCall::linear;
  op.flops = {p.flops_per_sample(), 0}, op.bytes = p.bytes;
  return op.with(p);
}

/// Returns the operator of a forward convolution; weights are shared by the batch.
Operator convolution_operator(const KernelShape& s) {
  const double window = number(s.window * s.window), places = number(s.result_side() * s.result_side());
  const double weights = number(s.channels) * number(s.columns) * window;
  Product p;
  p.m = places, p.n = number(s.columns), p.k = number(s.channels) * window;
  p.window = static_cast<std::int32_t>(window), p.stride = static_cast<std::int32_t>(s.stride);
  p.bytes = {4 * weights,
             4 * (number(s.channels) * number(s.side) * number(s.side) + number(s.columns) * places)};
  Operator op;
  op.cls = OperatorClass::conv, op.call = HostCall::conv2d;
  op.flops = {0, p.flops_per_sample()}, op.bytes = p.bytes;
  return op.with(p);
}

/// Returns how often a kernel passes over its rows. Layer norm reads a row for its statistics and for its
/// result. PyTorch's softmax of up to 1,024 numbers keeps a row in registers
/// (aten/src/ATen/native/cuda/PersistentSoftmax.cuh), and reads a longer one for its maximum, its sum and its
/// result.
double passes_of(const KernelMeasurement& row, const Gpu& gpu) {
  constexpr std::int64_t kLongestInRegisters = 1024;
  const std::int64_t columns = row.shape.columns;
  const double bytes = (row.precision == "fp32" || row.precision == "tf32" ? 4 : 2) * number(columns);
  if (row.op->cls == KernelClass::layer_norm) return row_passes(gpu, bytes, 1, kLayerNormThreads);
  const bool is_long = row.op->cls == KernelClass::softmax && columns > kLongestInRegisters;
  return is_long ? row_passes(gpu, bytes, 2, softmax_threads(columns)) : 1;
}

/// Returns the operator that the row measured.
Operator operator_of(const KernelMeasurement& row, const Gpu& gpu) {
  if (row.op->cls == KernelClass::product) return product_operator(row.shape);
  if (row.op->cls == KernelClass::convolution) return convolution_operator(row.shape);
  Operator op;
  op.cls = OperatorClass::elementwise;
  op.bytes = {4.0 * row.op->tensors * number(row.shape.rows) * number(row.shape.columns), 0};
  op.bytes.fixed *= passes_of(row, gpu);
  return op;
}

Precision precision_of(const KernelMeasurement& row) {
  if (row.precision == "fp16") return Precision::amp_fp16;
  if (row.precision == "bf16") return Precision::bf16;
  return row.precision == "tf32" ? Precision::tf32 : Precision::fp32;
}

/// Returns the reason why a GPU cannot run the row's precision; empty when it can.
std::string why_not_on(const Gpu& gpu, const KernelMeasurement& row) {
  const bool has = row.precision == "fp32" || (row.precision == "tf32" && gpu.tf32.per_second > 0) ||
                   (row.precision == "fp16" && gpu.fp16.per_second > 0) ||
                   (row.precision == "bf16" && gpu.bf16.per_second > 0) ||
                   (row.precision == "fp8" && gpu.fp8.per_second > 0);
  return has ? "" : gpu.name + " has no " + row.precision;
}

/// GPUs of the catalog, each read once.
class Gpus {
 public:
  const Gpu& open(const std::string& name) {
    const auto [it, is_new] = known_.try_emplace(name);
    if (is_new) {
      const auto text = open_named(CatalogKind::gpus, name);
      if (!text) throw InputError("unknown GPU \"" + name + "\"", unknown_name_hint(CatalogKind::gpus, name));
      it->second = read_or_throw(*text, read_gpu);
    }
    return it->second;
  }

 private:
  std::map<std::string, Gpu> known_;
};

KernelPrecision tensor_precision_of(const KernelMeasurement& row) {
  if (row.precision == "fp8") return KernelPrecision::fp8;
  return row.precision == "fp16" ? KernelPrecision::fp16 : KernelPrecision::bf16;
}

/// Returns the seconds of TensorRT-LLM's linear layer. In fp8 the input is in 16 bit, so it is scaled and
/// converted first.
double linear_seconds(const KernelMeasurement& row, const Gpu& gpu, const KernelCalibration& calibration) {
  const KernelShape& s = row.shape;
  const KernelPrecision precision = tensor_precision_of(row);
  const double scaling =
      precision == KernelPrecision::fp8 ? fp8_scaling_seconds(s.rows * s.depth, gpu, calibration) : 0;
  return scaling + gemm_seconds(s.rows, s.columns, s.depth, 1, precision, gpu, calibration);
}

/// Returns the seconds of TensorRT-LLM's attention. Three small kernels build the lengths; one rotates
/// queries and keys by their positions and writes keys and values to the paged cache; then the fused kernel
/// runs.
double cached_attention_seconds(const KernelMeasurement& row, const Gpu& gpu,
                                const KernelCalibration& calibration) {
  constexpr int kKernelsBefore = 4;
  const KernelShape& s = row.shape;
  const double packed =
      number(s.batch) * number(s.rows) * number(s.columns) * number(s.heads + 2 * s.kv_heads);
  FlashAttention attention;
  attention.batch = s.batch, attention.query_length = attention.key_length = s.rows;
  attention.heads = s.heads, attention.kv_heads = s.kv_heads, attention.head_dim = s.columns;
  return fixed_seconds(kKernelsBefore, calibration) + product_memory_seconds(2 * 2 * packed, gpu) +
         flash_attention_seconds(attention, tensor_precision_of(row), gpu, calibration);
}

/// Returns the predicted time as the measurement would show it.
double predicted_us(const KernelMeasurement& row, Gpu gpu) {
  if (row.precision == "fp32") gpu.tf32 = {};
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  if (row.op->cls == KernelClass::tensor_product) return linear_seconds(row, gpu, calibration) * 1e6;
  if (row.op->cls == KernelClass::attention) return cached_attention_seconds(row, gpu, calibration) * 1e6;
  KernelContext context{gpu, calibration, precision_of(row)};
  // The operands are stored in that precision already, so nothing is cast.
  context.half_weights = true;
  const std::int64_t batch = row.op->cls == KernelClass::convolution ? row.shape.batch : 1;
  const double kernel = kernel_seconds(operator_of(row, gpu), context, batch) * 1e6;
  const MeasuredCall call = call_of(row.op->cls);
  return std::max(call.least_us, call.before_us + kernel);
}

/// A key with the function that reads its value.
struct KernelKeyRow {
  std::string_view name;
  std::string (*value)(const ValidatedKernel& kernel);
};

/// Returns the class of a measured time; the number in front gives the order.
std::string size_of(const ValidatedKernel& kernel) {
  constexpr std::pair<double, std::string_view> kSizes[] = {{30, "1: below 30 us"},
                                                            {50, "2: 30 to 50 us"},
                                                            {200, "3: 50 to 200 us"},
                                                            {1000, "4: 200 us to 1 ms"},
                                                            {10'000, "5: 1 to 10 ms"}};
  for (const auto& [end, name] : kSizes)
    if (kernel.measured < end) return std::string(name);
  return "6: 10 ms and more";
}

constexpr KernelKeyRow kKernelKeys[] = {
    {"class", [](const ValidatedKernel& kernel) { return std::string(name_of(kernel.op->cls)); }},
    {"gpu", [](const ValidatedKernel& kernel) { return kernel.gpu; }},
    {"precision", [](const ValidatedKernel& kernel) { return kernel.precision; }},
    {"op", [](const ValidatedKernel& kernel) { return std::string(kernel.op->name); }},
    {"size", size_of},
};

/// Computes the statistics of both halves.
void summarize(KernelValidation& validation) {
  std::vector<double> unseen, seen;
  for (const ValidatedKernel& kernel : validation.kernels)
    if (kernel.is_scored) (kernel.is_seen ? seen : unseen).push_back(kernel.error());
  validation.unseen_rows = static_cast<int>(unseen.size());
  validation.seen_rows = static_cast<int>(seen.size());
  validation.scored = validation.unseen_rows + validation.seen_rows;
  validation.error = statistics_of(std::move(unseen));
  validation.seen = statistics_of(std::move(seen));
}

}  // namespace

double least_scored_us(KernelClass cls) {
  if (cls == KernelClass::convolution) return 0;
  return cls == KernelClass::product ? 200 : 50;
}

const std::vector<std::string>& gpus_of_kernel_constants(KernelClass cls) {
  static const std::vector<std::string> names{"a100-pcie-40gb", "t4", "v100-pcie-32gb"};
  static const std::vector<std::string> of_tensor_cores{"a100-sxm4-80gb", "h100-sxm5-80gb"};
  return cls == KernelClass::tensor_product || cls == KernelClass::attention ? of_tensor_cores : names;
}

KernelValidation validate_kernels(const std::vector<KernelMeasurement>& rows, const Progress& progress) {
  constexpr std::size_t kRowsPerReport = 1000;
  KernelValidation validation;
  validation.rows = static_cast<int>(rows.size());
  Gpus gpus;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KernelMeasurement& row = rows[i];
    if (progress && i % kRowsPerReport == 0)
      progress(static_cast<double>(i) / static_cast<double>(rows.size()));
    const Gpu& gpu = gpus.open(row.gpu);
    if (const std::string why = why_not_on(gpu, row); !why.empty()) {
      validation.skipped.push_back({row.line, why});
      continue;
    }
    const bool is_seen = std::ranges::count(gpus_of_kernel_constants(row.op->cls), row.gpu) > 0;
    validation.kernels.push_back({row.op, row.gpu, row.precision, row.shape_text, row.time_us,
                                  predicted_us(row, gpu), is_seen,
                                  row.time_us >= least_scored_us(row.op->cls)});
  }
  summarize(validation);
  return validation;
}

const std::vector<std::string>& kernel_group_keys() {
  static const std::vector<std::string> names = names_of_rows(kKernelKeys);
  return names;
}

std::vector<ErrorGroup> group_kernel_errors(const KernelValidation& validation, const GroupKeys& keys,
                                            bool is_seen) {
  const bool takes_all = std::ranges::count(keys, "size") > 0;
  std::map<std::vector<std::string>, std::vector<double>> members;
  for (const ValidatedKernel& kernel : validation.kernels) {
    if (kernel.is_seen != is_seen || !(kernel.is_scored || takes_all)) continue;
    std::vector<std::string> values;
    for (const std::string& key : keys) values.push_back(find_row(kKernelKeys, key)->value(kernel));
    members[values].push_back(kernel.error());
  }
  std::vector<ErrorGroup> groups;
  for (const auto& [values, errors] : members) {
    groups.push_back({values, static_cast<int>(errors.size()), 0, statistics_of(errors), 0, 0});
  }
  return groups;
}

}  // namespace foretrain
