// A layer of stated length: what it computes is not said, only how long it takes and how many parameters it
// trains.
#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {

namespace {

Operator operator_of(Time length) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, {}, {});
  op.stated = length;
  return op;
}

}  // namespace

// The result has the input's shape and always a gradient, so that backward runs even without parameters.
Applied apply_timed(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit("timed cannot work on token ids", "give the model input = [1] without input_is_tokens");
  std::vector<std::uint32_t> ready;
  if (layer.parameters > 0) ready.push_back(tape.parameter("weight", layer.parameters));
  const TensorId result = tape.result(in, {input}, true);
  tape.forward(operator_of(layer.forward_time));
  tape.node({{operator_of(layer.backward_time), std::move(ready)}}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
