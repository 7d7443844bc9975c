// The ranges of the numbers of layers over sequences.
#include <string_view>

#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kMostRecurrentLayers = 1'000, kMostSteps = 10'000;

struct NumberRule {
  std::string_view name;
  std::int64_t value, least, most;
};

/// What a layer of this type needs beyond what all types are checked for.
std::vector<NumberRule> rules_of(const Layer& layer) {
  const SequenceFields& fields = layer.sequence;
  switch (layer.type) {
    case LayerType::attention:
      return {{"width", fields.width, 0, kWidestLayer}};
    case LayerType::relative_attention:
      return {{"heads", layer.heads, 1, kWidestLayer},
              {"width", fields.width, 0, kWidestLayer},
              {"memory_length", fields.memory_length, 0, kWidestLayer}};
    case LayerType::window_attention:
      return {{"heads", layer.heads, 1, kWidestLayer},
              {"window", fields.window, 1, 1'000'000},
              {"shift", fields.shift, 0, fields.window}};
    case LayerType::additive_attention:
    case LayerType::location_attention:
      return {{"width", fields.width, 1, kWidestLayer}};
    case LayerType::lstm:
    case LayerType::gru:
      return {{"width", fields.width, 1, kWidestLayer}, {"layers", fields.layers, 1, kMostRecurrentLayers}};
    case LayerType::token_type:
      return {{"entries", layer.entries, 1, kWidestLayer}};
    case LayerType::position:
      return {{"entries", layer.entries, 0, kWidestLayer}};
    case LayerType::parameter:
      return {{"out", layer.out, 1, kWidestLayer}};
    default:
      return {};
  }
}

}  // namespace

std::vector<ModelFault> check_sequence_fields(const Layer& layer) {
  std::vector<ModelFault> faults;
  std::vector<NumberRule> rules = rules_of(layer);
  rules.push_back({"steps", layer.sequence.steps, 1, kMostSteps});
  for (const NumberRule& rule : rules) {
    if (rule.value >= rule.least && rule.value <= rule.most) continue;
    faults.push_back(
        {layer.span,
         fmt::format("{}: {} = {} is out of range", row_of(layer.type).name, rule.name, rule.value),
         fmt::format("{} to {}", rule.least, rule.most)});
  }
  return faults;
}

}  // namespace foretrain
