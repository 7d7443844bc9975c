// Networks of equal blocks whose layers have the paths that block files give them, with numbers that are easy
// to add up.
#pragma once

#include <string>

#include "tests/unit/strategy/small_plan.hpp"

namespace foretrain::test {

/// stem, `count` blocks of one linear layer and a ReLU, head: each linear layer of 1024 x 1024 weights and
/// 1024 biases.
inline constexpr std::int64_t kLinear = 1024 * 1024 + 1024;

inline Layer named(Layer layer, std::string name) {
  layer.name = std::move(name);
  return layer;
}

inline Model named_blocks(int count) {
  Model model{"blocks", "equal linear blocks", {1024}, false, {named(linear(1024), "stem")}};
  for (int i = 0; i < count; ++i) {
    const std::string path = "block." + std::to_string(i) + ".";
    append(model.layers, {named(linear(1024), path + "linear"), named(relu(false), path + "relu")});
  }
  append(model.layers, {named(linear(1024), "head"), plain("loss")});
  return model;
}

inline SmallPlan blocks_on(int gpus, int count = 4) {
  SmallPlan small(named_blocks(count));
  small.gpus = gpus;
  return small;
}

/// Bytes and number of the collectives whose label begins so, per step.
struct Sent {
  std::int64_t bytes = 0;
  std::size_t count = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
};

inline Sent sent_per_step(const Plan& plan, std::string_view label) {
  const auto tasks = tasks_labelled(plan.graph, TaskKind::collective, label);
  Sent sent{0, tasks.size() / plan.step_ends.size()};
  for (const TaskId id : tasks) sent.bytes += plan.graph.tasks()[id].traffic.count;
  sent.bytes /= static_cast<std::int64_t>(plan.step_ends.size());
  return sent;
}

inline std::size_t kernels_per_step(const Plan& plan, std::string_view label) {
  return tasks_labelled(plan.graph, TaskKind::kernel, label).size() / plan.step_ends.size();
}

inline const Decision* decision_about(const Plan& plan, std::string_view subject) {
  for (const Decision& decision : plan.decisions.list()) {
    if (decision.subject == subject) return &decision;
  }
  return nullptr;
}

}  // namespace foretrain::test
