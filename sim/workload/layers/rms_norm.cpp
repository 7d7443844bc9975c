// The root-mean-square norm of Llama and T5, operator by operator as transformers writes it:
// x * rsqrt(mean(x^2) + eps) * weight.
//
// With n elements in r rows, forward has a square, a mean, a sum, a root and two products. Backward has the
// products (each with the sum over the dimensions that its smaller operand was broadcast over), the root
// (three operators on rows), the mean broadcast, the square (three on elements), and the sum of the input's
// two gradients. All of it is in 32 bits. An input of 16 bits is converted first, and the scaled input is
// converted back before the weight.
#include "sim/workload/layers/rms_norm.hpp"

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Sizes of a norm, and its operators with their FLOPs and bytes term by term.
struct NormWork {
  double n = 0, rows = 0, width = 0;

  /// FLOPs: n + (n + r) + r + r + n + n. Bytes: 8 n + (4 n + 4 r) + 8 r + 8 r + (8 n + 4 r) + (8 n + 4 w).
  Operator forward() const { return pass({0, 4 * n + 3 * rows}, {4 * width, 28 * n + 24 * rows}, 6); }
  /// FLOPs and bytes of the terms. Weight: n + 2 n, 8 n + 16 n bytes. Product: the same, 8 r more. Root: 3 r,
  /// 28 r. Mean: n, 4 n + 4 r. Square: 3 n, 28 n. Sum: n, 12 n. A frozen weight saves its own product and
  /// sum, 2 n and 16 n.
  Operator backward(bool trains) const {
    return trains ? pass({0, 11 * n + 3 * rows}, {8 * width, 92 * n + 40 * rows}, 14)
                  : pass({0, 9 * n + 3 * rows}, {4 * width, 76 * n + 40 * rows}, 12);
  }

 private:
  static Operator pass(Amount flops, Amount bytes, int kernels) {
    Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, flops, bytes, kernels);
    op.calls = static_cast<std::uint16_t>(kernels);
    op.half_capable = false, op.stays_wide = op.narrows_result = true;
    return op;
  }
};

/// Records the fused form, with one kernel each way like a layer norm: the mean square and its root, the
/// quotient, the product with the weight (liger_kernel/ops/rms_norm.py). The weight's gradient is summed over
/// the rows.
TensorId record_fused_rms_norm(Tape& tape, TensorId input, std::string_view prefix) {
  const Shape in = tape.at(input).shape;
  const auto n = static_cast<double>(in.elements()), rows = static_cast<double>(in.rows()),
             width = static_cast<double>(in.width());
  const std::uint32_t weight = tape.parameter(fmt::format("{}weight", prefix), in.width());
  const TensorId result = tape.result(in, {input}, true);
  const auto kernel = [&](Amount flops, Amount bytes, int kernels) {
    Operator op = make_operator(OperatorClass::normalization, HostCall::layer_norm, flops, bytes, kernels);
    op.channels = in.width();
    return op;
  };
  tape.forward(kernel(per_sample(4 * n), {4 * width, 8 * n + 4 * rows}, 1));
  tape.save(input), tape.save(per_sample(4 * rows));
  tape.node({{kernel(per_sample(8 * n), {8 * width, 12 * n + 4 * rows}, 2), {weight}}}, {input}, result);
  return result;
}

// The layer's norm has one weight named "weight".
Applied apply_rms_norm(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("rms_norm needs [features] or [sequence, width], not {}", to_string(in)),
                  "use batch_norm for images");
  }
  return {record_rms_norm(tape, input, ""), "", ""};
}

}  // namespace

TensorId record_rms_norm(Tape& tape, TensorId input, std::string_view prefix) {
  if (tape.trainability().tuning().fuses(FusedKernel::rms_norm))
    return record_fused_rms_norm(tape, input, prefix);
  const Shape in = tape.at(input).shape;
  const NormWork work{static_cast<double>(in.elements()), static_cast<double>(in.rows()),
                      static_cast<double>(in.width())};
  const std::uint32_t weight = tape.parameter(fmt::format("{}weight", prefix), in.width());
  const TensorId result = tape.result(in, {input}, true);
  tape.forward(work.forward());
  tape.save(input);
  // A frozen weight needs no gradient, so the scaled input is not kept.
  const bool trains = Tape::trains(weight);
  tape.save(per_sample((trains ? 4 * work.n : 0) + 4 * work.rows));  // the scaled input and the roots
  tape.node({{work.backward(trains), {weight}}}, {input}, result);
  return result;
}

LayerType rms_norm_layer() { return {.name = "rms_norm", .apply = apply_rms_norm}; }

}  // namespace foretrain
