// Normalizations with two trained vectors: batch, layer, group and instance norm. Backward needs the input
// and the saved statistics.
#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// A norm with statistics of each sample by itself: `groups` means and deviations over n elements, with or
/// without trained vectors of `width`.
struct SampleNorm {
  double n = 0, groups = 0, width = 0;
  double trained = 2;  ///< trained vectors: weight and bias
  HostCall call = HostCall::layer_norm;
  bool half_capable = false;
  int backward_kernels = 2;
};

/// Records such a norm; `ready` lists its trained vectors, whose gradients backward makes.
TensorId record_sample_norm(Tape& tape, TensorId input, const SampleNorm& norm,
                            const std::vector<std::uint32_t>& ready) {
  const TensorId result = tape.result(tape.at(input).shape, {input}, !ready.empty());
  // Trained vectors are read in both passes, and their gradients are written in backward.
  const double vectors = ready.empty() ? 0 : norm.width, each = 4 * norm.trained;
  Operator forward = make_operator(OperatorClass::normalization, norm.call, per_sample(8 * norm.n),
                                   {each * vectors, 8 * norm.n + 8 * norm.groups});
  const double input_gradient = tape.at(input).needs_gradient ? 4 * norm.n : 0;
  Operator backward = make_operator(OperatorClass::normalization, norm.call, per_sample(12 * norm.n),
                                    {2 * each * vectors, 8 * norm.n + 8 * norm.groups + input_gradient},
                                    ready.empty() ? 1 : norm.backward_kernels);
  forward.half_capable = backward.half_capable = norm.half_capable;
  forward.channels = static_cast<std::int64_t>(vectors);
  tape.forward(forward);
  if (tape.at(result).needs_gradient) {
    tape.save(input);
    // Mean and deviation of each group, in fp32.
    tape.save(per_sample(8 * norm.groups));
  }
  tape.node({{backward, ready}}, {input}, result);
  return result;
}

/// Registers a weight and a bias of this width.
std::vector<std::uint32_t> trained_vectors(Tape& tape, std::int64_t width) {
  const std::uint32_t weight = tape.parameter("weight", width);
  return {weight, tape.parameter("bias", width)};
}

// Statistics are taken over the batch, so those of a channel are fixed amounts that do not grow with it.
Applied apply_batch_norm(Tape& tape, const Layer&, TensorId input) {
  const Shape& in = tape.at(input).shape;
  if (in.sides() == 0 && in.kind != ShapeKind::features) {
    return misfit(
        fmt::format("batch_norm needs [channels, height, width] or [features], not {}", to_string(in)),
        "use layer_norm for sequences");
  }
  const std::int64_t channels = in.size[0];
  const auto n = static_cast<double>(in.elements()), c = static_cast<double>(channels);
  const std::vector<std::uint32_t> ready = trained_vectors(tape, channels);
  // Buffers: running mean and variance in fp32, and the int64 count of batches.
  for (int statistic = 0; statistic < 2; ++statistic) tape.buffer(channels, 4);
  tape.buffer(1, 8);
  const TensorId result = tape.result(in, {input}, true);
  // The second kernel counts the batches, by one int64 addition.
  Operator forward =
      make_operator(OperatorClass::normalization, HostCall::batch_norm, {1, 8 * n}, {24 * c + 16, 8 * n}, 2);
  forward.channels = channels, forward.keeps_averages = true;
  tape.forward(forward);
  tape.save(input);
  // Mean and deviation of each channel, over the whole batch.
  tape.save(Amount{8 * c, 0});
  const double input_gradient = tape.at(input).needs_gradient ? 4 * n : 0;
  Operator backward = make_operator(OperatorClass::normalization, HostCall::batch_norm, per_sample(12 * n),
                                    {28 * c, 8 * n + input_gradient});
  backward.channels = channels;
  tape.node({{backward, ready}}, {input}, result);
  return {result, "", ""};
}

/// Options of layer_norm.
struct LayerNorm {
  /// It has a weight and a bias.
  bool trained = true;
  bool bias = true;  ///< otherwise the weight alone
};

// Every row is a group of its own, and the trained vectors are as wide as a row.
Applied apply_layer_norm(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<LayerNorm>();
  const Shape in = tape.at(input).shape;
  if (!in.is_rows()) {
    return misfit(fmt::format("layer_norm needs [features] or [sequence, width], not {}", to_string(in)),
                  "use batch_norm for images");
  }
  const SampleNorm norm{static_cast<double>(in.elements()), static_cast<double>(in.rows()),
                        static_cast<double>(in.width()), own.bias ? 2. : 1.};
  std::vector<std::uint32_t> trained;
  if (own.trained) {
    trained = own.bias ? trained_vectors(tape, in.width())
                       : std::vector<std::uint32_t>{tape.parameter("weight", in.width())};
  }
  return {record_sample_norm(tape, input, norm, trained), "", ""};
}

/// Options of group_norm and instance_norm.
struct GroupNorm {
  std::int64_t groups = 0;  ///< 0: one for each channel
  bool bias = true;         ///< weight and bias are trained
};

// A group norm is like a layer norm over the channels of each group, in 32 bit under autocast. An instance
// norm has a group for every channel. It runs as the library's batch norm over [1, batch x channels], in the
// precision of its input.
Applied apply_group_norm(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<GroupNorm>();
  const Shape in = tape.at(input).shape;
  if (in.sides() == 0) {
    return misfit(
        fmt::format("{} needs an image [channels, height, width], not {}", layer.type->name, to_string(in)),
        "use layer_norm for sequences");
  }
  const bool instance = own.groups == 0;
  const std::int64_t groups = instance ? in.size[0] : own.groups;
  if (in.size[0] % groups != 0) {
    return misfit(fmt::format("groups = {} does not divide {}", groups, counted(in.size[0], "channel")),
                  "use a divisor of the channels");
  }
  const std::vector<std::uint32_t> ready =
      own.bias ? trained_vectors(tape, in.size[0]) : std::vector<std::uint32_t>{};
  SampleNorm norm{static_cast<double>(in.elements()), static_cast<double>(groups),
                  static_cast<double>(in.size[0])};
  if (instance) norm.call = HostCall::batch_norm, norm.half_capable = true;
  return {record_sample_norm(tape, input, norm, ready), "", ""};
}

void check_group_norm(const LayerCheck& check) {
  check.range("groups", check.layer.get<GroupNorm>().groups, 1, kWidestLayer);
}

std::int64_t groups_of_norm(const Layer& layer) { return layer.get<GroupNorm>().groups; }

}  // namespace

LayerType batch_norm_layer() { return {.name = "batch_norm", .apply = apply_batch_norm}; }
LayerType layer_norm_layer() {
  return {.name = "layer_norm",
          .keys = {layer_key<&LayerNorm::bias>("bias"), layer_key<&LayerNorm::trained>("trained")},
          .apply = apply_layer_norm};
}
LayerType group_norm_layer() {
  return {.name = "group_norm",
          .keys = {required_key<&GroupNorm::groups>("groups"), layer_key<&GroupNorm::bias>("bias")},
          .apply = apply_group_norm,
          .check = check_group_norm,
          .widening = {.divisor = groups_of_norm}};
}
LayerType instance_norm_layer() {
  return {.name = "instance_norm", .keys = {layer_key<&GroupNorm::bias>("bias")}, .apply = apply_group_norm};
}

}  // namespace foretrain
