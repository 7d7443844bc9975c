// Joins of branches and named results: sums, products and concatenations, where smaller operands are
// broadcast over larger ones.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// True where `small` has the size of `large` or 1 in every dimension. Features count as the channels of an
/// image or volume and as the width of a sequence.
bool spreads_over(const Shape& small, const Shape& large) {
  if (small.kind == ShapeKind::tokens || large.kind == ShapeKind::tokens) return false;
  if (small.kind == ShapeKind::features && large.kind != ShapeKind::features)
    return small.size[0] == large.size[large.joint()];
  if (small.kind != large.kind) return false;
  for (std::size_t i = 0; i < small.size.size(); ++i) {
    if (small.size[i] != large.size[i] && small.size[i] != 1) return false;
  }
  return true;
}

/// Returns a misfit that names the shapes of two branches.
Applied misfit_of(const Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs,
                  std::size_t other, std::string hint) {
  return misfit(
      fmt::format("{}: branch 1 gives {}, branch {} gives {}", layer.type->name,
                  to_string(tape.at(inputs[0]).shape), other + 1, to_string(tape.at(inputs[other]).shape)),
      std::move(hint));
}

/// A pair of operands, one of which may be broadcast over the other.
struct Pair {
  TensorId left = 0, right = 0;
  Shape shape;  ///< of the result, the larger operand's
};

/// Returns the sums over the broadcast dimensions, which the gradient of a smaller operand needs.
BackwardStep sum_of_gradient(const Tape& tape, const Pair& pair, TensorId operand) {
  const auto n = static_cast<double>(pair.shape.elements()),
             m = static_cast<double>(tape.at(operand).shape.elements());
  return {make_operator(OperatorClass::reduction, HostCall::add, per_sample(n), per_sample(4 * n + 4 * m)),
          {}};
}

/// Records a sum. Its gradient is passed on as it is, except for the sums over broadcast dimensions.
TensorId record_sum(Tape& tape, const Pair& pair) {
  const auto n = static_cast<double>(pair.shape.elements());
  double read = 0;
  std::vector<BackwardStep> steps;
  for (const TensorId operand : {pair.left, pair.right}) {
    const Shape& shape = tape.at(operand).shape;
    read += static_cast<double>(shape.elements());
    // A broadcast operand needs the sum of the gradient over the broadcast dimensions.
    if (shape.elements() != pair.shape.elements() && tape.at(operand).needs_gradient)
      steps.push_back(sum_of_gradient(tape, pair, operand));
  }
  const TensorId result = tape.result(pair.shape, {pair.left, pair.right}, false);
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(4 * (n + read))));
  tape.node(std::move(steps), {pair.left, pair.right}, result);
  return result;
}

/// Records a product. The gradient of each operand needs the other one, which is kept.
TensorId record_product(Tape& tape, const Pair& pair) {
  const auto n = static_cast<double>(pair.shape.elements());
  double read = 0;
  std::vector<BackwardStep> products, sums;
  for (const TensorId operand : {pair.left, pair.right}) {
    const TensorId other = operand == pair.left ? pair.right : pair.left;
    const auto m = static_cast<double>(tape.at(operand).shape.elements()),
               k = static_cast<double>(tape.at(other).shape.elements());
    read += m;
    if (!tape.at(operand).needs_gradient) continue;
    tape.save(other);
    products.push_back(
        {make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(4 * (2 * n + k))),
         {}});
    if (tape.at(operand).shape.elements() != pair.shape.elements())
      sums.push_back(sum_of_gradient(tape, pair, operand));
  }
  // Products come first: each sum reduces one of them.
  for (BackwardStep& sum : sums) products.push_back(std::move(sum));
  const TensorId result = tape.result(pair.shape, {pair.left, pair.right}, false);
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(4 * (n + read))));
  tape.node(std::move(products), {pair.left, pair.right}, result);
  return result;
}

/// Joins the inputs pair by pair from the left.
Applied join_pairs(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs,
                   TensorId (*record)(Tape&, const Pair&)) {
  TensorId joined = inputs[0];
  if (tape.at(joined).shape.kind == ShapeKind::tokens)
    return misfit_of(tape, layer, inputs, inputs.size() - 1, "place an embedding first");
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape left = tape.at(joined).shape, right = tape.at(inputs[i]).shape;
    const bool right_spreads = spreads_over(right, left);
    if (!right_spreads && !spreads_over(left, right)) {
      return misfit_of(tape, layer, inputs, i, "all must give the same shape, or 1 where they differ");
    }
    joined = record(tape, {joined, inputs[i], right_spreads ? left : right});
  }
  return {joined, "", ""};
}

Applied join_add(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  return join_pairs(tape, layer, inputs, record_sum);
}

/// Records silu(gate) * up in one kernel; backward computes the activated gate again
/// (liger_kernel/ops/swiglu.py).
TensorId record_gated_product(Tape& tape, TensorId gate, TensorId up) {
  constexpr double kForwardFlops = 2, kBackwardFlops = 10;
  const Shape shape = tape.at(gate).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId result = tape.result(shape, {gate, up}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(kForwardFlops * n),
                             per_sample(12 * n)));
  tape.save(gate), tape.save(up);
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(kBackwardFlops * n),
                            per_sample(20 * n)),
              {}}},
            {gate, up}, result);
  // The fused LoRA functions compute the gate's result again in backward.
  if (tape.trainability().tuning().fuses(FusedKernel::lora)) tape.make_anew(result);
  return result;
}

Applied join_multiply(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  const bool is_gate = fuses_gate(layer, tape.trainability().tuning());
  if (is_gate && tape.at(inputs[0]).shape == tape.at(inputs[1]).shape)
    return {record_gated_product(tape, inputs[0], inputs[1]), "", ""};
  return join_pairs(tape, layer, inputs, record_product);
}

// Images and volumes are joined along channels, sequences and features along their last dimension. Backward
// returns views.
Applied join_concat(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  Shape joined = tape.at(inputs[0]).shape;
  const std::size_t along = joined.joint();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Shape other = tape.at(inputs[i]).shape;
    const std::int64_t sum = joined.size[along] + other.size[along];
    other.size[along] = joined.size[along];
    if (other != joined || joined.kind == ShapeKind::tokens) {
      return misfit_of(tape, layer, inputs, i,
                       "all branches must agree but for channels (or the last dimension)");
    }
    joined.size[along] = sum;
    if (!is_bounded(joined))
      return misfit("concat makes a tensor of more than 2^40 elements", "join fewer channels");
  }
  const TensorId result = tape.result(joined, inputs, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {},
                             per_sample(8 * static_cast<double>(joined.elements()))));
  tape.node({}, inputs, result);
  return {result, "", ""};
}

void check_join(const LayerCheck& check) { check.joins_several(); }

}  // namespace

// A name for the activated gate prevents the fusion, because another layer may read it.
bool fuses_gate(const Layer& layer, const FineTuning& tuning) {
  return tuning.fuses(FusedKernel::swiglu) && layer.type->name == std::string_view("multiply") &&
         layer.branches.size() == 2 && !layer.branches[0].empty() &&
         layer.branches[0].back().type->name == std::string_view("silu") &&
         layer.branches[0].back().as.empty();
}

LayerType add_layer() {
  return {.name = "add", .keys = {layer_key<&Layer::steps>("steps")}, .join = join_add, .check = check_join};
}
LayerType multiply_layer() { return {.name = "multiply", .join = join_multiply, .check = check_join}; }
LayerType concat_layer() {
  return {.name = "concat",
          .keys = {layer_key<&Layer::steps>("steps")},
          .join = join_concat,
          .check = check_join};
}

}  // namespace foretrain
