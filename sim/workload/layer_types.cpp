// The table of layer types, and the ranges of their numbers.
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kWidest = 1'000'000'000;   // channels, features, entries
constexpr std::int64_t kLargestStep = 1'000'000;  // kernel, stride, padding, dilation

constexpr std::array<LayerTypeRow, 19> kRows{{{"conv2d", apply_conv2d},
                                              {"batch_norm", apply_batch_norm},
                                              {"linear", apply_linear},
                                              {"max_pool", apply_max_pool},
                                              {"avg_pool", apply_avg_pool},
                                              {"adaptive_avg_pool", apply_adaptive_avg_pool},
                                              {"relu", apply_activation},
                                              {"gelu", apply_activation},
                                              {"tanh", apply_activation},
                                              {"sigmoid", apply_activation},
                                              {"softmax", apply_softmax},
                                              {"flatten", apply_flatten},
                                              {"add", nullptr},
                                              {"concat", nullptr},
                                              {"embedding", apply_embedding},
                                              {"attention", apply_attention},
                                              {"layer_norm", apply_layer_norm},
                                              {"dropout", apply_dropout},
                                              {"loss", apply_loss}}};
static_assert(kRows.size() == static_cast<std::size_t>(LayerType::loss) + 1);

struct FieldCheck {
  const Layer& layer;
  std::vector<ModelFault>& faults;

  void range(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) const {
    if (value >= least && value <= most) return;
    const std::string_view type = row_of(layer.type).name;
    if (value == 0 && least == 1) {
      faults.push_back({layer.span, fmt::format("{} needs {}", type, field), fmt::format("write {} = 1 or more", field)});
    } else {
      faults.push_back({layer.span, fmt::format("{}: {} = {} is out of range", type, field, value), fmt::format("{} to {}", least, most)});
    }
  }
};

void check_conv2d(const FieldCheck& check) {
  const Layer& layer = check.layer;
  check.range("out", layer.out, 1, kWidest);
  check.range("kernel", layer.kernel, 1, kLargestStep);
  check.range("stride", layer.stride, 0, kLargestStep);
  check.range("padding", layer.padding, -1, kLargestStep);
  check.range("dilation", layer.dilation, 1, kLargestStep);
  check.range("groups", layer.groups, 1, kWidest);
}

void check_pool(const FieldCheck& check) {
  const Layer& layer = check.layer;
  check.range("kernel", layer.kernel, 1, kLargestStep);
  check.range("stride", layer.stride, 0, kLargestStep);
  check.range("padding", layer.padding, 0, layer.kernel >= 1 && layer.kernel <= kLargestStep ? layer.kernel / 2 : kLargestStep);
}

void check_branches(const FieldCheck& check) {
  const auto count = static_cast<std::int64_t>(check.layer.branches.size());
  if (count >= 2 && count <= kMostBranches) return;
  const std::string_view type = row_of(check.layer.type).name;
  check.faults.push_back({check.layer.span, fmt::format("{} has {} branches", type, count),
                          fmt::format("give 2 to {} branches; an empty branch [] passes its input on", kMostBranches)});
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
  switch (layer.type) {
    case LayerType::conv2d:
      check_conv2d(check);
      break;
    case LayerType::linear:
      check.range("out", layer.out, 1, kWidest);
      break;
    case LayerType::max_pool:
    case LayerType::avg_pool:
      check_pool(check);
      break;
    case LayerType::adaptive_avg_pool:
      check.range("out", layer.out, 0, kLargestStep);
      break;
    case LayerType::embedding:
      check.range("entries", layer.entries, 1, kWidest);
      check.range("out", layer.out, 1, kWidest);
      break;
    case LayerType::attention:
      check.range("heads", layer.heads, 1, kLargestStep);
      break;
    case LayerType::add:
    case LayerType::concat:
      check_branches(check);
      break;
    default:
      break;
  }
  return faults;
}

}  // namespace foretrain
