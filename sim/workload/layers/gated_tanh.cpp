// The gated unit of WaveNet: tanh of one half of the channels times the sigmoid of the other half, in one
// fused kernel each way.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

// Work is counted by the input's elements: it is read once, and half as many are written.
Applied apply_gated_tanh(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.sides() == 0 || in.size[0] % 2 != 0)
    return misfit(fmt::format("gated_tanh needs an even number of channels, not {}", to_string(in)),
                  "place it after a convolution");
  Shape made = in;
  // The result has half of the channels.
  made.size[0] /= 2;
  const auto n = static_cast<double>(in.elements());
  const TensorId result = tape.result(made, {input}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(1.5 * n),
                             per_sample(6 * n)));
  if (tape.at(result).needs_gradient) tape.save(per_sample(4 * n));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(3 * n),
                            per_sample(10 * n)),
              {}}},
            {input}, result);
  return {result, "", ""};
}

}  // namespace

LayerType gated_tanh_layer() { return {.name = "gated_tanh", .apply = apply_gated_tanh}; }

}  // namespace foretrain
