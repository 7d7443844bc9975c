// The table of layer types, and the ranges of their numbers.
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kLargestStep = 1'000'000;  // kernel, stride, padding, dilation
constexpr std::int64_t kMostOperators = 10'000;   // of one pointwise layer

constexpr std::array kRows{LayerTypeRow{"conv2d", apply_convolution},
                           LayerTypeRow{"batch_norm", apply_batch_norm},
                           LayerTypeRow{"linear", apply_linear},
                           LayerTypeRow{"max_pool", apply_max_pool},
                           LayerTypeRow{"avg_pool", apply_avg_pool},
                           LayerTypeRow{"adaptive_avg_pool", apply_adaptive_avg_pool},
                           LayerTypeRow{"relu", apply_activation},
                           LayerTypeRow{"gelu", apply_activation},
                           LayerTypeRow{"tanh", apply_activation},
                           LayerTypeRow{"sigmoid", apply_activation},
                           LayerTypeRow{"softmax", apply_softmax},
                           LayerTypeRow{"flatten", apply_flatten},
                           LayerTypeRow{"add", nullptr, join_add},
                           LayerTypeRow{"concat", nullptr, join_concat},
                           LayerTypeRow{"embedding", apply_embedding},
                           LayerTypeRow{"attention", apply_attention},
                           LayerTypeRow{"layer_norm", apply_layer_norm},
                           LayerTypeRow{"dropout", apply_dropout},
                           LayerTypeRow{"conv1d", apply_convolution},
                           LayerTypeRow{"conv3d", apply_convolution},
                           LayerTypeRow{"conv_transpose", apply_convolution},
                           LayerTypeRow{"relu6", apply_activation},
                           LayerTypeRow{"silu", apply_activation},
                           LayerTypeRow{"hardswish", apply_activation},
                           LayerTypeRow{"hardsigmoid", apply_activation},
                           LayerTypeRow{"leaky_relu", apply_activation},
                           LayerTypeRow{"elu", apply_activation},
                           LayerTypeRow{"group_norm", apply_group_norm},
                           LayerTypeRow{"instance_norm", apply_group_norm},
                           LayerTypeRow{"dropout_channels", apply_dropout_channels},
                           LayerTypeRow{"drop_path", apply_drop_path},
                           LayerTypeRow{"upsample", apply_upsample},
                           LayerTypeRow{"multiply", nullptr, join_multiply},
                           LayerTypeRow{"slice", apply_slice},
                           LayerTypeRow{"reshape", apply_reshape},
                           LayerTypeRow{"start"},
                           LayerTypeRow{"token_type", apply_token_type},
                           LayerTypeRow{"position", apply_position},
                           LayerTypeRow{"class_token", apply_class_token},
                           LayerTypeRow{"parameter", apply_parameter},
                           LayerTypeRow{"to_sequence", apply_to_sequence},
                           LayerTypeRow{"first_token", apply_first_token},
                           LayerTypeRow{"shift", apply_shift},
                           LayerTypeRow{"gelu_new", apply_gelu_new},
                           LayerTypeRow{"lstm", apply_recurrent},
                           LayerTypeRow{"gru", apply_recurrent},
                           LayerTypeRow{"window_attention", apply_window_attention},
                           LayerTypeRow{"patch_merging", apply_patch_merging},
                           LayerTypeRow{"mean_tokens", apply_mean_tokens},
                           LayerTypeRow{"relative_attention", apply_relative_attention},
                           LayerTypeRow{"additive_attention", apply_additive_attention},
                           LayerTypeRow{"location_attention", apply_additive_attention},
                           LayerTypeRow{"scale", apply_pass},
                           LayerTypeRow{"mask", apply_pass},
                           LayerTypeRow{"adaptive_embedding", apply_adaptive_embedding},
                           LayerTypeRow{"adaptive_softmax", apply_adaptive_softmax},
                           LayerTypeRow{"dot_interaction", nullptr, join_dot_interaction},
                           LayerTypeRow{"gated_tanh", apply_gated_tanh},
                           LayerTypeRow{"pointwise", apply_pointwise},
                           LayerTypeRow{"roi_align", nullptr, join_roi_align},
                           LayerTypeRow{"timed", apply_timed},
                           LayerTypeRow{"loss", apply_loss}};
static_assert(kRows.size() == static_cast<std::size_t>(LayerType::loss) + 1);

struct FieldCheck {
  const Layer& layer;
  std::vector<ModelFault>& faults;

  void range(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) const {
    if (value >= least && value <= most) return;
    const std::string_view type = row_of(layer.type).name;
    if (value == 0 && least == 1) {
      faults.push_back(
          {layer.span, fmt::format("{} needs {}", type, field), fmt::format("write {} = 1 or more", field)});
    } else {
      faults.push_back({layer.span, fmt::format("{}: {} = {} is out of range", type, field, value),
                        fmt::format("{} to {}", least, most)});
    }
  }
  void range(std::string_view field, const Sides& sides, std::int64_t least, std::int64_t most) const {
    range(field, sides.least() < least ? sides.least() : sides.most(), least, most);
  }
};

void check_convolution_fields(const FieldCheck& check) {
  const Layer& layer = check.layer;
  check.range("out", layer.out, 1, kWidestLayer);
  check.range("kernel", layer.kernel, 1, kLargestStep);
  check.range("stride", layer.stride, 0, kLargestStep);
  check.range("padding", layer.padding, -1, kLargestStep);
  check.range("dilation", layer.dilation, 1, kLargestStep);
  check.range("groups", layer.groups, 1, kWidestLayer);
  check.range("output_padding", layer.output_padding, 0, kLargestStep);
}

void check_pool(const FieldCheck& check) {
  const Layer& layer = check.layer;
  const std::int64_t kernel = layer.kernel.least();
  check.range("kernel", layer.kernel, 1, kLargestStep);
  check.range("stride", layer.stride, 0, kLargestStep);
  if (layer.kernel.count == 1 && layer.padding.count == 1)
    check.range("padding", layer.padding, 0,
                kernel >= 1 && kernel <= kLargestStep ? kernel / 2 : kLargestStep);
  else
    for (std::size_t side = 0; side < 3; ++side)
      check.range("padding", layer.padding[side], 0, std::max<std::int64_t>(0, layer.kernel[side] / 2));
}

void check_joined(const FieldCheck& check) {
  const Layer& layer = check.layer;
  const bool bare = layer.branches.empty() && layer.from.empty() && layer.with.empty();
  const auto count = static_cast<std::int64_t>(layer.branches.size() + layer.with.size());
  if (!bare && count <= kMostBranches && (layer.branches.size() != 1 || count > 1)) return;
  const std::string_view type = row_of(layer.type).name;
  check.faults.push_back(
      {layer.span, fmt::format("{} has {} branches", type, count),
       fmt::format("give 2 to {} branches; an empty branch [] passes its input on", kMostBranches)});
}

void check_names(const FieldCheck& check) {
  const Layer& layer = check.layer;
  const LayerTypeRow& row = row_of(layer.type);
  if (row.join == nullptr && layer.from.size() > 1) {
    check.faults.push_back({layer.span,
                            fmt::format("{} takes one input, not {}", row.name, layer.from.size()),
                            "join them with concat or add"});
  }
  if (layer.type == LayerType::start && !layer.from.empty())
    check.faults.push_back({layer.span, "start takes no input", "leave `from` out"});
}

void check_numbers(const FieldCheck& check) {
  const Layer& layer = check.layer;
  switch (layer.type) {
    case LayerType::conv1d:
    case LayerType::conv2d:
    case LayerType::conv3d:
    case LayerType::conv_transpose:
      return check_convolution_fields(check);
    case LayerType::linear:
      return check.range("out", layer.out, 1, kWidestLayer);
    case LayerType::max_pool:
    case LayerType::avg_pool:
      return check_pool(check);
    case LayerType::adaptive_avg_pool:
      return check.range("out", layer.out, 0, kLargestStep);
    case LayerType::embedding:
      check.range("entries", layer.entries, 1, kWidestLayer);
      return check.range("out", layer.out, 1, kWidestLayer);
    case LayerType::attention:
      return check.range("heads", layer.heads, 1, kLargestStep);
    case LayerType::group_norm:
      return check.range("groups", layer.groups, 1, kWidestLayer);
    case LayerType::upsample:
      return check.range("factor", layer.factor, 1, kLargestStep);
    case LayerType::pointwise:
      check.range("out", layer.out, 0, kWidestLayer);
      return check.range("operators", layer.operators, 1, kMostOperators);
    case LayerType::roi_align:
      check.range("out", layer.out, 1, kLargestStep);
      check.range("kernel", layer.kernel, 1, kLargestStep);
      return check_joined(check);
    case LayerType::slice:
      check.range("out", layer.out, 1, kWidestLayer);
      return check.range("offset", layer.offset, 0, kWidestLayer);
    case LayerType::add:
    case LayerType::concat:
    case LayerType::multiply:
      return check_joined(check);
    default:
      return;
  }
}

}  // namespace

const LayerTypeRow& row_of(LayerType type) {
  const auto index = static_cast<std::size_t>(type);
  assert(index < kRows.size());
  return kRows[index];
}

std::vector<ModelFault> check_layer(const Layer& layer) {
  std::vector<ModelFault> faults;
  const FieldCheck check{layer, faults};
  check_numbers(check);
  check_names(check);
  for (ModelFault& fault : check_sequence_fields(layer)) faults.push_back(std::move(fault));
  return faults;
}

Applied check_sides(const Layer& layer, std::size_t sides) {
  for (const auto& [field, given] : {std::pair<std::string_view, const Sides&>{"kernel", layer.kernel},
                                     {"stride", layer.stride},
                                     {"padding", layer.padding},
                                     {"dilation", layer.dilation},
                                     {"output_padding", layer.output_padding},
                                     {"factor", layer.factor}}) {
    if (given.count == 1 || given.count == sides) continue;
    return misfit(fmt::format("{}: {} = {} has {} numbers for {} side{}", row_of(layer.type).name, field,
                              to_string(given), given.count, sides, sides == 1 ? "" : "s"),
                  "write one number for all sides, or one for each");
  }
  return {};
}

}  // namespace foretrain
