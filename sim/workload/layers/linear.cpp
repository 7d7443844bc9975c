// Matrix products with trained weights: one product forward; backward one for the input and one for the
// weights. Frozen, packed and adapted weights change which of them run and what is kept.
#include "sim/workload/layers/linear.hpp"

#include <fmt/format.h>

#include "sim/workload/fine_tuning/adapters.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Sizes of one product and the work that follows from them.
struct ProductWork {
  double rows = 0, in = 0, out = 0, bias = 0;
  double product_flops() const { return 2 * rows * in * out; }
  double product_bytes() const { return 4 * rows * (in + out); }
  double weight_bytes() const { return 4 * in * out; }
  Amount moved() const { return {weight_bytes(), product_bytes()}; }
  Product forward() const { return {rows, out, in, 1, 1, Product::Grows::rows, 1, 1, moved()}; }
  Product for_input() const { return {rows, in, out, 1, 1, Product::Grows::rows, 1, 1, moved()}; }
  Product for_weights() const { return {out, in, rows, 1, 1, Product::Grows::depth, 1, 1, moved()}; }
};

// A fused bias adds FLOPs and bytes, but no kernel.
Operator product_forward_operator(const ProductWork& w) {
  const double bias_flops = w.bias > 0 ? w.rows * w.out : 0;
  Operator op =
      make_operator(OperatorClass::gemm, HostCall::linear, per_sample(w.product_flops() + bias_flops),
                    {w.weight_bytes() + 4 * w.bias, w.product_bytes()});
  return op.with(w.forward());
}

/// The gradients that a product's backward makes.
struct MadeGradients {
  bool input = false, weight = true, bias = true;
};

// Backward is two products (for the input, for the weights) and a column sum for the bias.
Operator product_backward_operator(const ProductWork& w, const MadeGradients& makes) {
  const int products = (makes.input ? 1 : 0) + (makes.weight ? 1 : 0);
  const bool sums = w.bias > 0 && makes.bias;
  const double sum = sums ? w.rows * w.out : 0, bias = sums ? w.bias : 0;
  Operator op =
      make_operator(OperatorClass::gemm, HostCall::linear, per_sample(products * w.product_flops() + sum),
                    {products * w.weight_bytes() + 4 * bias, products * w.product_bytes() + 4 * sum},
                    products + (sums ? 1 : 0));
  if (makes.input) op.with(w.for_input());
  if (makes.weight) op.with(w.for_weights());
  return op;
}

/// Records a bias that is added by an operator of its own; backward has a column sum of its own.
TensorId record_bias(Tape& tape, TensorId input, std::uint32_t bias) {
  const Shape shape = tape.at(input).shape;
  const auto n = static_cast<double>(shape.elements()), width = static_cast<double>(shape.width());
  const TensorId result = tape.result(shape, {input}, true);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), {4 * width, 8 * n}));
  tape.node(
      {{make_operator(OperatorClass::reduction, HostCall::add, per_sample(n), {4 * width, 4 * n}), {bias}}},
      {input}, result);
  return result;
}

}  // namespace

namespace {

/// Returns the conversion of an fp32 tensor to 16 bits, or back.
Operator conversion_of(double elements) {
  constexpr double kBothWidths = 6;
  Operator op = make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(kBothWidths * elements));
  op.width = ElementWidth::full;
  return op;
}

/// Records autocast's conversion of an fp32 weight, which runs in each forward pass. The copy of a frozen
/// weight is not cached, and the product keeps it for the gradient of its input.
void record_weight_cast(Tape& tape, double elements) {
  constexpr double kBothWidths = 6, kHalf = 2;
  Operator op = make_operator(OperatorClass::copy, HostCall::copy, {}, {kBothWidths * elements, 0});
  op.width = ElementWidth::full;
  tape.forward(op);
  tape.save(Amount{kHalf * elements, 0});
}

/// Facts that decide how a product is recorded.
struct ProductOf {
  /// The weight is packed.
  bool is_packed = false;
  /// The input is kept for the gradient of the weight, or because bitsandbytes always keeps it.
  bool keeps_input = false;
};

/// Records the layer alone, without an adapter.
TensorId record_product(Tape& tape, TensorId input, std::int64_t out, const LinearForm& form,
                        const ProductOf& how) {
  const bool is_packed = how.is_packed;
  const Shape in = tape.at(input).shape;
  const bool fused = form.bias == LinearForm::Bias::fused;
  const ProductWork work{static_cast<double>(in.rows()), static_cast<double>(in.width()),
                         static_cast<double>(out), fused ? static_cast<double>(out) : 0};
  const std::uint32_t weight = tape.parameter(fmt::format("{}weight", form.prefix), in.width() * out);
  std::vector<std::uint32_t> ready;
  if (form.bias != LinearForm::Bias::none)
    ready.push_back(tape.parameter(fmt::format("{}bias", form.prefix), out));
  const MadeGradients makes{tape.at(input).needs_gradient, Tape::trains(weight),
                            !ready.empty() && Tape::trains(ready[0])};
  ready.push_back(weight);
  const Shape made = in.kind == ShapeKind::sequence ? Shape::sequence(in.size[0], out) : Shape::features(out);
  std::vector<BackwardStep> steps;
  // A packed weight is unpacked before every product that reads it, in backward again.
  if (is_packed) {
    const Operator unpacked = dequantisation(tape.trainability().tuning().weights, work.in * work.out);
    tape.forward(unpacked);
    if (makes.input) steps.push_back({unpacked, {}});
  }
  // bitsandbytes converts an fp32 operand to the type that it computes in, and its result back
  // (nn/modules.py, Linear4bit.forward).
  const bool converts = is_packed && tape.is_wide(input);
  if (converts) {
    tape.forward(conversion_of(work.rows * work.in));
    tape.forward(conversion_of(work.rows * work.out));
    if (makes.input) steps.push_back({conversion_of(work.rows * (work.in + work.out)), {}});
  }
  // Autocast casts weights that upcasting left in fp32, except those of adapters.
  const bool is_cast = !is_packed && !tape.is_in_adapter() &&
                       tape.trainability().tuning().upcast == Upcast::all && makes.input;
  const TensorId result = tape.result(made, {input}, true);
  tape.forward(product_forward_operator(work));
  if (is_packed) tape.return_in_width_of(result, input);
  if (is_cast) record_weight_cast(tape, work.in * work.out);
  // A product whose weight is frozen keeps no input, unless bitsandbytes runs it.
  if (how.keeps_input && (makes.weight || is_packed))
    tape.save(input);
  else
    tape.keep_no_operands(result);
  const bool is_apart = form.bias == LinearForm::Bias::apart;
  // A bias that is added apart gets its gradient in the operator that adds it.
  const Operator backward = product_backward_operator(work, makes);
  if (backward.kernels > 0)
    steps.push_back({backward, is_apart ? std::vector<std::uint32_t>{weight} : ready});
  tape.node(std::move(steps), {input}, result);
  return is_apart ? record_bias(tape, result, ready[0]) : result;
}

}  // namespace

TensorId record_linear(Tape& tape, TensorId input, std::int64_t out, const LinearForm& form) {
  std::string path = tape.layer_path();
  if (!form.prefix.empty()) path += fmt::format(".{}", form.prefix.substr(0, form.prefix.size() - 1));
  // The products of an adapter are recorded here too; they have no adapter themselves.
  const bool is_own = !tape.is_in_adapter();
  const bool has_adapter = is_own && form.is_module && tape.trainability().has_adapter(path, out);
  // A single function runs a product with its adapter, and makes the input again in its backward pass.
  const bool is_there_again = tape.at(input).is_made_anew && (has_adapter || !is_own);
  const TensorId result = record_product(
      tape, input, out, form,
      {.is_packed = is_own && tape.trainability().is_quantised(path), .keeps_input = !is_there_again});
  return has_adapter ? record_adapter(tape, input, result, form.prefix) : result;
}

namespace {

/// Options of the layer `linear`.
struct Linear {
  std::int64_t out = 0;  ///< features
  bool bias = true;
  bool bias_apart = false;  ///< added by an operator of its own
};

// The product is over the last dimension, row by row; images have to be flattened first.
Applied apply_linear(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Linear>();
  const Shape& in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("linear needs [features] or [sequence, width], not {}", to_string(in)),
                  in.kind == ShapeKind::image ? "place a flatten before it" : "place an embedding before it");
  }
  if (!bounded_product({in.width(), own.out}) || !bounded_product({in.rows(), own.out})) {
    return misfit("linear makes a tensor of more than 2^40 elements", "use fewer features");
  }
  return {record_linear(tape, input, own.out,
                        {own.bias && own.bias_apart ? LinearForm::Bias::apart : bias_of(own.bias), ""}),
          "", ""};
}

void check_linear(const LayerCheck& check) {
  check.range("out", check.layer.get<Linear>().out, 1, kWidestLayer);
}

void widen_linear(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Linear>();
  own.out = wider(own.out);
}

/// Returns the size of a declared bias; the weight's depends on the input too.
std::optional<std::int64_t> size_of_bias(const Layer& layer, const DeclaredWeight& declared, const Wider&) {
  if (declared.part != DeclaredWeight::Part::bias) return std::nullopt;
  return layer.get<Linear>().out;
}

}  // namespace

LayerType linear_layer() {
  return {.name = "linear",
          .keys = {required_key<&Linear::out>("out"), layer_key<&Layer::steps>("steps"),
                   layer_key<&Linear::bias>("bias"), layer_key<&Linear::bias_apart>("bias_apart")},
          .apply = apply_linear,
          .check = check_linear,
          .widening = {.sets_width = true, .widen = widen_linear, .size_of = size_of_bias}};
}

}  // namespace foretrain
