// A trained vector that multiplies a tensor or is added to it: the layer scale of ConvNeXt and CaiT, a norm's
// gain written separately, a bias that a graph adds by itself.
//
// A product has n FLOPs, 8 n bytes and 4 bytes for each of the vector's `out` elements. Backward has n FLOPs
// for the input and, for the vector, a product and its sum over rows and batch. An addition has only that
// sum.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Option of both layers.
struct TrainedVector {
  /// Elements of the vector; 0: the width, or the channels, of the input.
  std::int64_t out = 0;
};

/// Returns `passes` bytes per element of the tensor, and the vector once.
Amount elementwise_bytes(double n, double v, double passes) { return {4 * v, passes * n}; }

/// Returns the backward steps: those of the input, then those of the vector where it trains.
std::vector<BackwardStep> gradients(const Tape& tape, TensorId input, double v, bool multiplies,
                                    std::uint32_t weight) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  std::vector<BackwardStep> steps;
  const auto pass = [&](Amount bytes) {
    steps.push_back({make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), bytes), {}});
  };
  if (multiplies && tape.at(input).needs_gradient) pass(elementwise_bytes(n, v, 8));
  if (!Tape::trains(weight)) return steps;
  if (multiplies) pass(per_sample(12 * n));
  steps.push_back(
      {make_operator(OperatorClass::reduction, HostCall::add, per_sample(n), elementwise_bytes(n, v, 4)),
       {weight}});
  return steps;
}

// The vector is broadcast over all other dimensions of the input.
template <bool multiplies>
Applied apply_trained_vector(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit(fmt::format("{} cannot work on token ids", layer.type->name), "place an embedding first");
  const auto& own = layer.get<TrainedVector>();
  const std::int64_t elements = own.out > 0 ? own.out : in.size[in.joint()];
  if (in.elements() % elements != 0)
    return misfit(fmt::format("out = {} does not fit {}", elements, to_string(in)),
                  "use the width, the channels, or a product of dimensions");
  const auto n = static_cast<double>(in.elements()), v = static_cast<double>(elements);
  const std::uint32_t weight = tape.parameter(multiplies ? "weight" : "bias", elements);
  const TensorId result = tape.result(in, {input}, true);
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), elementwise_bytes(n, v, 8)));
  if (multiplies && Tape::trains(weight)) tape.save(input);
  tape.node(gradients(tape, input, v, multiplies, weight), {input}, result);
  return {result, "", ""};
}

void check_trained_vector(const LayerCheck& check) {
  check.range("out", check.layer.get<TrainedVector>().out, 0, kWidestLayer);
}

LayerType trained_vector(std::string_view name, Applied (*apply)(Tape&, const Layer&, TensorId)) {
  return {.name = name,
          .keys = {layer_key<&TrainedVector::out>("out")},
          .apply = apply,
          .check = check_trained_vector,
          .widening = {.is_rigid = [](const Layer& layer) { return layer.get<TrainedVector>().out > 0; }}};
}

}  // namespace

LayerType trained_scale_layer() { return trained_vector("trained_scale", apply_trained_vector<true>); }
LayerType trained_shift_layer() { return trained_vector("trained_shift", apply_trained_vector<false>); }

}  // namespace foretrain
