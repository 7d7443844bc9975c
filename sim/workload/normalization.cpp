// Batch and layer normalization: two trained vectors; backward needs the input and the saved statistics.
#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {

Applied apply_batch_norm(Tape& tape, const Layer&, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.kind != ShapeKind::image && in.kind != ShapeKind::features) {
    return misfit(fmt::format("batch_norm needs [channels, height, width] or [features], not {}", to_string(in)),
                  "use layer_norm for sequences");
  }
  const std::int64_t channels = in.size[0];
  const auto n = static_cast<double>(in.elements()), c = static_cast<double>(channels);
  const std::vector<std::uint32_t> ready{tape.parameter("weight", channels), tape.parameter("bias", channels)};
  for (int statistic = 0; statistic < 2; ++statistic) tape.buffer(channels, 4);
  tape.buffer(1, 8);
  const TensorId result = tape.result(in, {input}, true);
  // The second kernel counts the batches: one int64 add.
  tape.forward(make_operator(OperatorClass::normalization, HostCall::batch_norm, {1, 8 * n}, {24 * c + 16, 8 * n}, 2));
  tape.save(input);
  tape.save(Amount{8 * c, 0});
  const double input_gradient = tape.at(input).needs_gradient ? 4 * n : 0;
  tape.node(
      {{make_operator(OperatorClass::normalization, HostCall::batch_norm, per_sample(12 * n), {28 * c, 8 * n + input_gradient}), ready}},
      {input}, result);
  return {result, "", ""};
}

Applied apply_layer_norm(Tape& tape, const Layer&, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("layer_norm needs [features] or [sequence, width], not {}", to_string(in)), "use batch_norm for images");
  }
  const auto n = static_cast<double>(in.elements()), rows = static_cast<double>(in.rows()), width = static_cast<double>(in.width());
  const std::vector<std::uint32_t> ready{tape.parameter("weight", in.width()), tape.parameter("bias", in.width())};
  const TensorId result = tape.result(in, {input}, true);
  Operator forward = make_operator(OperatorClass::normalization, HostCall::layer_norm, per_sample(8 * n), {8 * width, 8 * n + 8 * rows});
  forward.half_capable = false;
  tape.forward(forward);
  tape.save(input);
  tape.save(per_sample(8 * rows));
  const double input_gradient = tape.at(input).needs_gradient ? 4 * n : 0;
  Operator backward = make_operator(OperatorClass::normalization, HostCall::layer_norm, per_sample(12 * n),
                                    {16 * width, 8 * n + 8 * rows + input_gradient}, 2);
  backward.half_capable = false;
  tape.node({{backward, ready}}, {input}, result);
  return {result, "", ""};
}

}  // namespace foretrain
