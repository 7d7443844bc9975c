// A layer of stated length: a file gives the time that it takes and the number of its parameters, and not
// what it computes.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {

namespace {

/// Options of the layer; times are those of one pass at any batch.
struct Timed {
  /// Elements of the one trained tensor; 0: none.
  std::int64_t parameters = 0;
  Time forward{}, backward{};
};

/// Returns an operator with a stated time instead of FLOPs and bytes.
Operator operator_of(Time length) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, {}, {});
  op.stated = length;
  return op;
}

// The result has the input's shape, and always needs a gradient, so that backward runs even without
// parameters.
Applied apply_timed(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Timed>();
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit("timed cannot work on token ids", "give the model input = [1] without input_is_tokens");
  std::vector<std::uint32_t> ready;
  // The parameters are one tensor, whose gradient is ready after backward's stated time.
  if (own.parameters > 0) ready.push_back(tape.parameter("weight", own.parameters));
  const TensorId result = tape.result(in, {input}, true);
  tape.forward(operator_of(own.forward));
  tape.node({{operator_of(own.backward), std::move(ready)}}, {input}, result);
  return {result, "", ""};
}

}  // namespace

LayerType timed_layer() {
  return {.name = "timed",
          .keys = {layer_key<&Timed::parameters>("parameters", {.least = 0}),
                   required_key<&Timed::forward>("forward"), required_key<&Timed::backward>("backward")},
          .apply = apply_timed,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
