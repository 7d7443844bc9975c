// Sums of gradients for weights that several layers share. Each parameter's announcements are counted first;
// replaying the backward steps then shows which one is the last.
#include "sim/workload/layers/shared_weights.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Returns the step that adds one more gradient to a parameter's sum.
BackwardStep sum_of_gradients(const ExpandedModel& model, std::uint32_t parameter, std::uint32_t layer) {
  const auto n = static_cast<double>(model.parameters[parameter].elements);
  BackwardStep sum{make_operator(OperatorClass::elementwise, HostCall::add, {n, 0}, {12 * n, 0}), {}};
  sum.op.backward = true, sum.op.layer = layer;
  return sum;
}

/// Rewrites the backward pass of a network so that each parameter is ready once.
class Settling {
 public:
  explicit Settling(ExpandedModel& model)
      : model_(model), announced_(model.parameters.size(), 0), left_(announced_) {
    for (const BackwardStep& step : model.backward) {
      for (const std::uint32_t parameter : step.ready) ++left_[parameter];
    }
  }

  // Most networks share no weights and keep their backward pass.
  bool needed() const {
    for (const std::uint32_t uses : left_) {
      if (uses > 1) return true;
    }
    return false;
  }

  void run() {
    std::vector<BackwardStep> steps = std::exchange(model_.backward, {});
    for (BackwardStep& step : steps) settle(std::move(step));
  }

 private:
  // Parameters that are ready after this step go to the last step inserted for it.
  void settle(BackwardStep step) {
    const std::vector<std::uint32_t> ready = std::exchange(step.ready, {});
    const std::uint32_t layer = step.op.layer;
    model_.backward.push_back(std::move(step));
    for (const std::uint32_t parameter : ready) {
      // Every further gradient of a parameter is added to the sum so far.
      if (announced_[parameter]++ > 0) model_.backward.push_back(sum_of_gradients(model_, parameter, layer));
      if (--left_[parameter] == 0) model_.backward.back().ready.push_back(parameter);
    }
  }

  ExpandedModel& model_;
  std::vector<std::uint32_t> announced_;
  std::vector<std::uint32_t> left_;  ///< announcements still to come
};

/// Visits all layers, those in branches included.
template <class Visit>
void visit_layers(const std::vector<Layer>& layers, const Visit& visit) {
  for (const Layer& layer : layers) {
    visit(layer);
    for (const std::vector<Layer>& branch : layer.branches) visit_layers(branch, visit);
  }
}

}  // namespace

// Labels of all layers that use weights are collected before the declarations are checked, because either may
// come first.
std::vector<ModelFault> check_declared_weights(const Model& model) {
  std::set<std::string> used;
  std::vector<const Layer*> declared;
  visit_layers(model.layers, [&](const Layer& layer) {
    const DeclaredWeight* weight = layer.type->declares == nullptr ? nullptr : layer.type->declares(layer);
    if (weight == nullptr)
      used.insert(layer.weights);
    else if (weight->trained)
      declared.push_back(&layer);
  });
  std::vector<ModelFault> faults;
  for (const Layer* layer : declared) {
    if (!layer->weights.empty() && used.contains(layer->weights)) continue;
    faults.push_back({layer->span, fmt::format("no layer uses the weights \"{}\"", layer->weights),
                      "give the layer that uses them the same `weights`"});
  }
  return faults;
}

const Parameter* find_untrained(const ExpandedModel& model) {
  // A parameter is complete when any backward step announces it.
  std::vector<std::uint8_t> ready(model.parameters.size(), 0);
  for (const std::uint32_t parameter : model.gradient_ready_order()) ready[parameter] = 1;
  const auto missing = std::find(ready.begin(), ready.end(), std::uint8_t{0});
  return missing == ready.end() ? nullptr
                                : &model.parameters[static_cast<std::size_t>(missing - ready.begin())];
}

void settle_shared_weights(ExpandedModel& model) {
  Settling settling(model);
  if (settling.needed()) settling.run();
}

}  // namespace foretrain
