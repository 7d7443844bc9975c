// Adapters as PEFT runs them (peft/tuners/lora/layer.py, dora.py, ia3/layer.py), call by call. Each function
// records one operator, or a few of one call, and returns its result.
#include "sim/workload/fine_tuning/adapters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/linear.hpp"

namespace foretrain {

namespace {

/// Returns an element-wise operator of an adapter.
Operator adapter_pass(double flops, double bytes, int kernels = 1) {
  return make_operator(OperatorClass::elementwise, HostCall::add, per_sample(flops), per_sample(bytes),
                       kernels);
}

/// Records an element-wise operator with as much work backward.
TensorId record_adapter_pass(Tape& tape, TensorId input, Operator op) {
  const TensorId made = tape.result(tape.at(input).shape, {input}, false);
  tape.forward(op);
  tape.node({{op, {}}}, {input}, made);
  return made;
}

/// Records PEFT's conversion of an adapter's input to the adapter's type, which autocast converts back: 2 + 4
/// bytes an element each.
TensorId record_conversions(Tape& tape, TensorId input) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  if (tape.is_wide(input)) {  // it is fp32 already
    Operator op = adapter_pass(0, 6 * n);
    op.cls = OperatorClass::copy, op.call = HostCall::copy, op.width = ElementWidth::full;
    tape.forward(op);
    const TensorId same = tape.alias(tape.at(input).shape, input);
    tape.node({{op, {}}}, {input}, same);
    return same;
  }
  Operator op = adapter_pass(0, 2 * 6 * n, 2);
  op.cls = OperatorClass::copy, op.call = HostCall::copy, op.calls = 2, op.width = ElementWidth::full;
  return record_adapter_pass(tape, input, op);
}

/// Records the dropout before an adapter, whose mask has one byte an element.
TensorId record_dropout_before(Tape& tape, TensorId input) {
  const Shape shape = tape.at(input).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId made = tape.result(shape, {input}, false);
  Operator op =
      make_operator(OperatorClass::elementwise, HostCall::dropout, per_sample(3 * n), per_sample(9 * n));
  tape.forward(op);
  tape.save(per_sample(4 * n));
  tape.node({{op, {}}}, {input}, made);
  return made;
}

/// Records a sum of two tensors; backward passes the gradient on to both.
TensorId record_adapter_sum(Tape& tape, TensorId left, TensorId right) {
  const Shape shape = tape.at(left).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId sum = tape.result(shape, {left, right}, false);
  tape.forward(adapter_pass(n, 12 * n));
  tape.node({}, {left, right}, sum);
  return sum;
}

/// Records the two products: down to `rank` features and up again.
TensorId record_thin_products(Tape& tape, TensorId input, std::int64_t rank, std::int64_t out,
                              std::string_view prefix) {
  const std::string down = fmt::format("{}lora_A.", prefix), up = fmt::format("{}lora_B.", prefix);
  const TensorId narrow = record_linear(tape, input, rank, {LinearForm::Bias::none, down});
  return record_linear(tape, narrow, out, {LinearForm::Bias::none, up});
}

/// The tensors that DoRA reads. It multiplies the layer's own result and the adapter's by the quotient, so
/// both are kept.
struct DoraParts {
  TensorId base = 0, thin = 0, sum = 0;
};
/// Records DoRA's norm of every column of the merged weight, which runs in each forward pass: the product B
/// A, its sum with the weight, squares and their sum, and a root. Then the quotient scales the result.
TensorId record_dora_scale(Tape& tape, const DoraParts& parts, double in, std::int64_t rank,
                           std::string_view prefix) {
  const TensorId sum = parts.sum;
  const Shape shape = tape.at(sum).shape;
  const auto out = static_cast<double>(shape.width()), n = static_cast<double>(shape.elements());
  const double weights = in * out;
  const std::uint32_t length = tape.parameter(fmt::format("{}lora_magnitude_vector", prefix), shape.width());
  const TensorId scaled = tape.result(shape, {sum}, true);
  const double depth = static_cast<double>(rank);
  const Product merged{
      out, in, depth, 1, 1, Product::Grows::nothing, 1, 1, {4 * (weights + depth * (in + out)), 0}};
  Operator product =
      make_operator(OperatorClass::gemm, HostCall::linear, {2 * weights * depth, 0}, merged.bytes);
  tape.forward(product.with(merged));
  Operator norm =
      make_operator(OperatorClass::reduction, HostCall::add, {4 * weights, 0}, {4 * 6 * weights, 0}, 4);
  norm.calls = 4;
  tape.forward(norm);
  tape.forward(adapter_pass(2 * n, 16 * n, 2));
  tape.save(parts.base);
  tape.save(parts.thin);
  tape.node({{adapter_pass(2 * n, 20 * n, 2), {length}}}, {sum}, scaled);
  return scaled;
}

/// Records LoRA or DoRA. A rank above the layer's sizes is a failure of the tape.
TensorId record_lora(Tape& tape, TensorId input, TensorId base, std::string_view prefix) {
  const FineTuning& tuning = tape.trainability().tuning();
  const std::int64_t in = tape.at(input).shape.width(), out = tape.at(base).shape.width();
  if (tuning.rank > std::min(in, out))
    tape.fail(
        fmt::format("an adapter of rank {} is wider than {}{} of {} x {}", tuning.rank, tape.layer_path(),
                    prefix.empty() ? "" : fmt::format(".{}", prefix.substr(0, prefix.size() - 1)), in, out),
        "a rank of 8 to 64 is usual");
  // The fused kernels convert the thin weights instead of the input, and support neither dropout nor DoRA.
  const bool is_fused =
      tuning.fuses(FusedKernel::lora) && !tuning.dropout && tuning.adapter == AdapterKind::lora;
  TensorId x = input;
  if (tuning.wide_adapters && tuning.computes_in_half && !is_fused) x = record_conversions(tape, x);
  if (tuning.dropout) x = record_dropout_before(tape, x);
  const TensorId thin = record_thin_products(tape, x, tuning.rank, out, prefix);
  if (is_fused) return record_adapter_sum(tape, base, thin);  // the thin weight holds the scale
  const auto n = static_cast<double>(tape.at(thin).shape.elements());
  const TensorId scaled = record_adapter_pass(tape, thin, adapter_pass(n, 8 * n));
  const TensorId sum = record_adapter_sum(tape, base, scaled);
  return tuning.adapter == AdapterKind::dora
             ? record_dora_scale(tape, {base, thin, sum}, static_cast<double>(in), tuning.rank, prefix)
             : sum;
}

/// Records IA3: every feature of the result is multiplied by a trained number. At the end of a feed-forward
/// part it is every feature of the input, which is counted behind the product.
TensorId record_factors(Tape& tape, TensorId input, TensorId base, std::string_view prefix) {
  const Shape shape = tape.at(base).shape;
  const std::string path =
      fmt::format("{}.{}", tape.layer_path(), prefix.substr(0, prefix.size() - !prefix.empty()));
  const bool scales_input = Trainability::ends_feed_forward(prefix.empty() ? tape.layer_path() : path);
  const Shape scaled_shape = scales_input ? tape.at(input).shape : shape;
  const auto n = static_cast<double>(scaled_shape.elements()),
             width = static_cast<double>(scaled_shape.width());
  const std::uint32_t factors = tape.parameter(fmt::format("{}ia3_l", prefix), scaled_shape.width());
  const TensorId scaled = tape.result(shape, {base}, true);
  Operator forward = adapter_pass(n, 8 * n), backward = adapter_pass(3 * n, 24 * n, 3);
  forward.bytes.fixed = 4 * width, backward.bytes.fixed = 8 * width;
  tape.forward(forward);
  tape.save(scales_input ? input : base);
  tape.node({{backward, {factors}}}, {base}, scaled);
  return scaled;
}

/// FLOPs whose time it takes to unpack a weight of 4 or 8 bits with its scale [unverified]. An A100 then
/// unpacks 1.3e11 weights a second; published steps of QLoRA imply 0.9 to 1.7e11
/// (docs/models/memory.md).
constexpr double kFlopsPerPackedWeight = 110;

}  // namespace

TensorId record_adapter(Tape& tape, TensorId input, TensorId base, std::string_view prefix) {
  tape.begin_adapter();
  const TensorId made = tape.trainability().tuning().adapter == AdapterKind::ia3
                            ? record_factors(tape, input, base, prefix)
                            : record_lora(tape, input, base, prefix);
  tape.end_adapter();
  return made;
}

Operator dequantisation(WeightFormat format, double elements) {
  constexpr double kHalfBytes = 2;
  Operator op =
      make_operator(OperatorClass::elementwise, HostCall::copy, {kFlopsPerPackedWeight * elements, 0},
                    {(bytes_per_weight(format) + kHalfBytes) * elements, 0});
  op.width = ElementWidth::full, op.is_roofline = true;
  if (format == WeightFormat::nf4_double) op.kernels = op.calls = 2;  // the scales are unpacked first
  return op;
}

}  // namespace foretrain
