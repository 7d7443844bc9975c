// The end of a network: losses.
//
// Cross entropy is a log-softmax over the classes, then the negative log-likelihood of the target, averaged.
// The other losses compare element by element with a target of the same shape. All of them compute in fp32
// unless a fused or compiled form reads the scores in their own width.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// The losses of a model file's `kind`.
enum class LossKind : std::uint8_t { cross_entropy, mse, l1, bce };

/// Options of the layer.
struct Loss {
  LossKind kind = LossKind::cross_entropy;
  bool weighted = false;  ///< scaled before it is added to the others
};

/// Adds the kernels that sum several losses of a network. Each works on single numbers; a weighted loss is
/// also scaled.
void add_to_total(Operator& forward, Operator& backward, const Loss& own, bool further) {
  if (own.weighted) {
    forward.kernels += 1, forward.flops.fixed += 1, forward.bytes.fixed += 8;
    backward.kernels += 1, backward.flops.fixed += 1, backward.bytes.fixed += 8;
  }
  // The sum of this loss and the earlier ones is one more kernel on two numbers.
  if (further) forward.kernels += 1, forward.flops.fixed += 1, forward.bytes.fixed += 12;
}

/// Records a loss from its operators; `kept` are bytes for backward beside tensors of the tape.
Applied record_loss(Tape& tape, const Loss& own, TensorId input, Operator forward, Operator backward,
                    Amount kept) {
  const TensorId result = tape.result(Shape::features(1), {input}, false);
  add_to_total(forward, backward, own, tape.count_loss() > 1);
  // Losses stay in 32 bits under autocast, and beside 16-bit weights too.
  forward.half_capable = backward.half_capable = false;
  forward.stays_wide = backward.stays_wide = true;
  tape.forward(forward);
  if (own.weighted) kept.fixed += 8;  // the factor, in double
  if (tape.at(result).needs_gradient) tape.save(kept);
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

/// Records the fused form, with one kernel each way. Backward writes the scores' gradient over them, so
/// neither their logarithms nor a second copy is kept (flash_attn/losses/cross_entropy.py with
/// inplace_backward, unsloth's kernels/cross_entropy_loss.py).
Applied fused_cross_entropy(Tape& tape, const Loss& own, TensorId input) {
  const Shape in = tape.at(input).shape;
  const double n = static_cast<double>(in.elements()), rows = static_cast<double>(in.rows());
  return record_loss(
      tape, own, input,
      make_operator(OperatorClass::reduction, HostCall::loss, {2, 8 * n}, {8, 4 * n + 12 * rows}, 2),
      make_operator(OperatorClass::reduction, HostCall::loss, {0, 4 * n}, {8, 8 * n + 12 * rows}),
      {4, 12 * rows});
}

/// Records the compiled form. Forward reads the scores in their own width twice: for the largest of a row,
/// then for the sum of the exponentials. Backward reads them once and writes their gradient. Their logarithms
/// are never in memory.
Applied compiled_cross_entropy(Tape& tape, const Loss& own, TensorId input) {
  const Shape in = tape.at(input).shape;
  const double n = static_cast<double>(in.elements()), rows = static_cast<double>(in.rows());
  const TensorId result = tape.result(Shape::features(1), {input}, false);
  Operator forward =
      make_operator(OperatorClass::reduction, HostCall::loss, {2, 8 * n}, {8, 8 * n + 12 * rows}, 2);
  Operator backward =
      make_operator(OperatorClass::reduction, HostCall::loss, {0, 4 * n}, {8, 8 * n + 12 * rows});
  add_to_total(forward, backward, own, tape.count_loss() > 1);
  tape.forward(forward);
  if (tape.at(result).needs_gradient) tape.save(input), tape.save({4, 12 * rows});
  tape.node({{backward, {}}}, {input}, result);
  return {result, "", ""};
}

/// Records the eager form: a log-softmax whose result is kept, then the mean over the targets. The targets of
/// an image are its positions.
Applied cross_entropy(Tape& tape, const Loss& own, TensorId input) {
  const Shape in = tape.at(input).shape;
  const double n = static_cast<double>(in.elements());
  const auto targets = static_cast<double>(in.sides() > 0 ? in.positions() : in.rows());
  const TensorId log_probabilities = record_softmax(tape, input, true);
  return record_loss(
      tape, own, log_probabilities,
      make_operator(OperatorClass::reduction, HostCall::loss, {2, 0}, {8, 4 * n + 8 * targets}),
      make_operator(OperatorClass::reduction, HostCall::loss, {0, n}, {8, 8 * n + 8 * targets}),
      // Targets are int64; losses over equally many targets share one tensor of them.
      {4, tape.is_new_target(targets) ? 8 * targets : 0});
}

// Forward compares and averages in two kernels, backward is one. The target is kept beside the input.
Applied elementwise_loss(Tape& tape, const Loss& own, TensorId input) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  const double each = own.kind == LossKind::bce ? 8 : 2;
  if (tape.at(input).needs_gradient) tape.save(input);
  return record_loss(
      tape, own, input,
      make_operator(OperatorClass::reduction, HostCall::loss, {0, (each + 1) * n}, {4, 16 * n}, 2),
      make_operator(OperatorClass::elementwise, HostCall::loss, {0, each * n}, {4, 12 * n}), {0, 4 * n});
}

// Fused and compiled forms exist for rows of scores alone; images take the eager form.
Applied apply_loss(Tape& tape, const Layer& layer, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens) {
    return misfit(fmt::format("loss needs [classes] or [sequence, classes], not {}", to_string(in)),
                  "place flatten and linear before it");
  }
  const auto& own = layer.get<Loss>();
  const bool is_fused = tape.trainability().tuning().fuses(FusedKernel::cross_entropy);
  if (is_fused && own.kind == LossKind::cross_entropy && in.is_rows())
    return fused_cross_entropy(tape, own, input);
  const bool is_compiled = tape.trainability().tuning().is_compiled;
  if (is_compiled && own.kind == LossKind::cross_entropy && in.is_rows())
    return compiled_cross_entropy(tape, own, input);
  return own.kind == LossKind::cross_entropy ? cross_entropy(tape, own, input)
                                             : elementwise_loss(tape, own, input);
}

}  // namespace

// The scores of a model with 16-bit weights become fp32 before the loss; backward converts their gradient.
TensorId record_conversion_to_float(Tape& tape, TensorId input) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  const TensorId wide = tape.result(tape.at(input).shape, {input}, false);
  Operator copy = make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(6 * n));
  copy.half_capable = false, copy.stays_wide = true;
  tape.forward(copy);
  tape.node({{copy, {}}}, {input}, wide);
  return wide;
}

LayerType loss_layer() {
  return {.name = "loss",
          .keys = {layer_key<&Loss::weighted>("weighted"),
                   word_key<&Loss::kind>("kind", {"cross_entropy", "mse", "l1", "bce"})},
          .apply = apply_loss,
          .is_loss = true,
          .module = ModuleRule::never};
}

}  // namespace foretrain
