// A layer that no type describes: its author states its work, and the roofline gives the time of it.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {

namespace {

// A sanity limit; the count of kernels also has to fit 16 bits.
constexpr std::int64_t kMostKernels = 10'000;

/// Options of the layer, for one sample. Bytes are read and written, for 32-bit elements; 16-bit precisions
/// halve them.
struct Custom {
  /// Elements of the one trained tensor; 0: none.
  std::int64_t parameters = 0;
  std::int64_t kernels = 1;  ///< launched by each pass
  Flops forward_flops{}, backward_flops{};
  Bytes forward_bytes{}, backward_bytes{};
  Bytes saved_bytes{};  ///< kept for backward
  /// Shape of the result; empty: the input's.
  std::vector<std::int64_t> shape;
};

double amount(Bytes bytes) { return static_cast<double>(bytes.count); }

/// Returns one pass, forward or backward: its FLOPs count beside its bytes.
Operator custom_pass(Flops flops, Bytes bytes, std::int64_t kernels) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(flops.count),
                              per_sample(amount(bytes)), static_cast<int>(kernels));
  op.is_roofline = true;
  return op;
}

// A single operator each way. Their FLOPs and bytes are the author's; the time follows from the roofline.
Applied apply_custom(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind == ShapeKind::tokens)
    return misfit("custom cannot work on token ids", "put an embedding before it");
  const auto& own = layer.get<Custom>();
  const std::optional<Shape> made = own.shape.empty() ? in : input_shape(own.shape, false);
  if (!made) return misfit("custom makes a tensor of more than 2^40 elements", "give a smaller shape");
  std::vector<std::uint32_t> ready;
  // The parameters are one tensor, which is ready after the single backward operator.
  if (own.parameters > 0) ready.push_back(tape.parameter("weight", own.parameters));
  const TensorId result = tape.result(*made, {input}, own.parameters > 0);
  tape.forward(custom_pass(own.forward_flops, own.forward_bytes, own.kernels));
  tape.save(per_sample(amount(own.saved_bytes)));
  tape.node({{custom_pass(own.backward_flops, own.backward_bytes, own.kernels), std::move(ready)}}, {input},
            result);
  return {result, "", ""};
}

}  // namespace

LayerType custom_layer() {
  return {.name = "custom",
          .keys = {layer_key<&Custom::parameters>("parameters", {.least = 0}),
                   layer_key<&Custom::kernels>("kernels", {.most = kMostKernels}),
                   required_key<&Custom::forward_flops>("forward_flops"),
                   required_key<&Custom::backward_flops>("backward_flops"),
                   required_key<&Custom::forward_bytes>("forward_bytes"),
                   required_key<&Custom::backward_bytes>("backward_bytes"),
                   layer_key<&Custom::saved_bytes>("saved_bytes"),
                   layer_key<&Custom::shape>("shape", {.longest = 4})},
          .apply = apply_custom,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
