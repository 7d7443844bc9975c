// Rows of kernels. Shapes are written as NeuSight publishes them: "B4xM8xN16xK32", where N is the dimension
// over which the product sums, "B4xH8", "B=4 Input_Channel=8 …". Those of large models are written as in
// aiconfigurator: "M4xN8xK16", where K is the dimension over which the product sums, "B1xS2xHq3xHkv4xD5".
#include "sim/scenario/csv/kernel_rows.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "sim/base/named_rows.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

namespace {

const std::vector<std::string> kPrecisions{"fp32", "tf32", "fp16", "bf16", "fp8"};

/// A letter or word of a shape, and the number that it sets.
struct ShapePart {
  std::string_view key;
  std::int64_t KernelShape::*number;
  std::int64_t least = 1;
};

/// The parts of each notation, in their order.
constexpr ShapePart kProductParts[] = {{"B", &KernelShape::batch},
                                       {"M", &KernelShape::rows},
                                       {"N", &KernelShape::depth},
                                       {"K", &KernelShape::columns}};
constexpr ShapePart kTensorProductParts[] = {
    {"M", &KernelShape::rows}, {"N", &KernelShape::columns}, {"K", &KernelShape::depth}};
constexpr ShapePart kAttentionParts[] = {{"B", &KernelShape::batch},
                                         {"S", &KernelShape::rows},
                                         {"Hq", &KernelShape::heads},
                                         {"Hkv", &KernelShape::kv_heads},
                                         {"D", &KernelShape::columns}};
constexpr ShapePart kRowParts[] = {{"B", &KernelShape::rows}, {"H", &KernelShape::columns}};
constexpr ShapePart kConvolutionParts[] = {{"B=", &KernelShape::batch},
                                           {"Input_Channel=", &KernelShape::channels},
                                           {"Output_Channel=", &KernelShape::columns},
                                           // The misspelling is that of the published files.
                                           {"Kernel_Szie=", &KernelShape::window},
                                           {"Input_Size=", &KernelShape::side},
                                           {"Stride=", &KernelShape::stride},
                                           {"Padding=", &KernelShape::padding, 0}};

/// The notation of a class of kernels: its parts, the character between them, and an example for hints.
struct ShapeForm {
  std::span<const ShapePart> parts;
  char separator;
  std::string_view example;
};

ShapeForm form_of(KernelClass cls) {
  if (cls == KernelClass::product) return {kProductParts, 'x', "B4xM128xN64xK256"};
  if (cls == KernelClass::tensor_product) return {kTensorProductParts, 'x', "M128xN256xK64"};
  if (cls == KernelClass::attention) return {kAttentionParts, 'x', "B1xS4096xHq32xHkv8xD128"};
  if (cls == KernelClass::convolution)
    return {kConvolutionParts, ' ',
            "B=8 Input_Channel=64 Output_Channel=128 Kernel_Szie=3 Input_Size=56 Stride=1 Padding=1"};
  return {kRowParts, 'x', "B4096xH1024"};
}

/// Takes "key" and a number from the front of `text`; returns false when it begins with something else.
bool take(std::string_view& text, const ShapePart& part, KernelShape& shape) {
  if (!text.starts_with(part.key)) return false;
  text.remove_prefix(part.key.size());
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || value < part.least || value > kMostInShape) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  shape.*part.number = value;
  return true;
}

/// Returns the shape of a text; nullopt unless it has exactly the parts of the notation.
std::optional<KernelShape> shape_of(std::string_view text, const ShapeForm& form) {
  KernelShape shape;
  for (std::size_t i = 0; i < form.parts.size(); ++i) {
    if (i > 0 && !text.starts_with(form.separator)) return std::nullopt;
    if (i > 0) text.remove_prefix(1);
    if (!take(text, form.parts[i], shape)) return std::nullopt;
  }
  return text.empty() ? std::optional(shape) : std::nullopt;
}

/// Returns the elements of the largest tensor, as a double because the product may exceed 64 bits.
double elements_of(const KernelShape& s) {
  const auto d = [](std::int64_t number) { return static_cast<double>(number); };
  const double images = d(s.batch) * std::max(d(s.channels), d(s.columns)) *
                        std::max(d(s.side) * d(s.side), d(s.result_side()) * d(s.result_side()));
  const double matrices =
      d(s.batch) * std::max({d(s.rows) * d(s.depth), d(s.depth) * d(s.columns), d(s.rows) * d(s.columns)});
  const double rows = d(s.batch) * d(s.rows) * d(s.columns) * std::max(d(s.heads), d(s.kv_heads));
  return std::max({images, matrices, rows, d(s.channels) * d(s.columns) * d(s.window) * d(s.window)});
}

/// Returns why no tensors have this shape; empty when they can.
std::string nonsense_in(const KernelShape& s) {
  if (s.window > s.side + 2 * s.padding)
    return fmt::format("a window of {} does not fit into {} with padding {}", s.window, s.side, s.padding);
  if (s.padding >= s.window && s.padding > 0)
    return fmt::format("padding {} is not less than the window of {}", s.padding, s.window);
  if (s.heads % s.kv_heads != 0)
    return fmt::format("{} heads of queries do not share {} of keys evenly", s.heads, s.kv_heads);
  if (elements_of(s) > kMostKernelElements)
    return fmt::format("a tensor of more than {:g} elements", kMostKernelElements);
  return "";
}

/// Returns the catalog's name of the one GPU whose name begins with `text`; `text` itself if none or several
/// do.
std::string full_gpu_name(std::string_view text, const std::vector<std::string>& gpus) {
  const std::string* found = nullptr;
  for (const std::string& name : gpus) {
    // An exact name wins over names that it begins.
    if (name == text) return name;
    if (!name.starts_with(text) || name[text.size()] != '-') continue;
    if (found) return std::string(text);
    found = &name;
  }
  return found ? *found : std::string(text);
}

/// Returns a mistake in the precision: kernels on tensor cores are measured in 16 or 8 bits, all others not
/// in 8.
std::string fault_of_precision(const KernelMeasurement& m) {
  const bool is_tensor = m.op->cls == KernelClass::tensor_product || m.op->cls == KernelClass::attention;
  if (is_tensor && (m.precision == "fp32" || m.precision == "tf32"))
    return fmt::format("{} is measured in fp16, bf16 or fp8", m.op->name);
  const bool has_fp8 = m.op->cls == KernelClass::tensor_product;
  return m.precision == "fp8" && !has_fp8 ? fmt::format("no kernel of {} in fp8 is known", m.op->name) : "";
}

}  // namespace

std::string_view name_of(KernelClass cls) {
  constexpr std::string_view kNames[] = {"product",    "convolution",         "pointwise", "softmax",
                                         "layer norm", "tensor-core product", "attention"};
  return kNames[static_cast<std::size_t>(cls)];
}

const std::vector<KernelOperator>& kernel_operators() {
  using enum KernelClass;
  static const std::vector<KernelOperator> rows{
      {"bmm", product},       {"linear", product},      {"conv", convolution},
      {"add", pointwise, 3},  {"mul", pointwise, 3},    {"div", pointwise, 3},
      {"pow", pointwise, 3},  {"addu", pointwise, 2},   {"mulu", pointwise, 2},
      {"divu", pointwise, 2}, {"powu", pointwise, 2},   {"relu", pointwise, 2},
      {"tanh", pointwise, 2}, {"gelu", pointwise, 2},   {"softmax", softmax, 2},
      {"ln", layer_norm, 2},  {"gemm", tensor_product}, {"attention_fwd_causal", attention},
  };
  return rows;
}

const std::vector<std::string>& kernel_columns() {
  static const std::vector<std::string> names{"op", "shape", "precision", "gpu", "time_us"};
  return names;
}

const std::vector<std::string>& optional_kernel_columns() {
  static const std::vector<std::string> names{"kernel", "source"};
  return names;
}

std::optional<KernelMeasurement> read_kernel(const CsvRecord& record, const std::vector<std::string>& gpus) {
  static const std::vector<std::string> names = names_of_rows(kernel_operators());
  KernelMeasurement m;
  m.op = find_row(kernel_operators(), record.one_of("op", names));
  // Each fault is reported; a row without a shape is dropped.
  m.precision = record.one_of("precision", kPrecisions);
  m.gpu = full_gpu_name(record.text("gpu"), gpus);
  // The call reports what is wrong with the name.
  if (std::ranges::count(gpus, m.gpu) == 0) record.one_of("gpu", gpus);
  m.time_us = record.positive("time_us", kShortestTime * 1e6, to_seconds(kLongestTime) * 1e6);
  m.kernel = record.text("kernel"), m.source = record.text("source");
  m.shape_text = record.text("shape"), m.line = record.line();
  if (!m.op) return std::nullopt;
  if (const std::string fault = fault_of_precision(m); !fault.empty()) record.wrong("precision", fault);
  const ShapeForm form = form_of(m.op->cls);
  const auto shape = shape_of(m.shape_text, form);
  const std::string nonsense = shape ? nonsense_in(*shape) : "";
  if (!shape)
    record.wrong("shape", fmt::format("no shape of {}: \"{}\"", m.op->name, m.shape_text.substr(0, 60)),
                 fmt::format("as in {}, each number from 1 to {}", form.example, kMostInShape));
  if (!nonsense.empty()) record.wrong("shape", nonsense);
  if (!shape || !nonsense.empty()) return std::nullopt;
  m.shape = *shape;
  return m;
}

}  // namespace foretrain
