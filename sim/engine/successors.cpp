// A counting sort of the edges by the task waited for.
#include "sim/engine/successors.hpp"

namespace foretrain {

Successors::Successors(const TaskGraph& graph) : first_(graph.tasks().size() + 1, 0) {
  const auto count = static_cast<TaskId>(graph.tasks().size());
  for (TaskId task = 0; task < count; ++task) {
    for (const Dependency& dependency : graph.dependencies(task)) ++first_[dependency.before + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  edges_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (TaskId task = 0; task < count; ++task) {
    std::uint32_t position = 0;
    for (const Dependency& dependency : graph.dependencies(task)) edges_[next[dependency.before]++] = {task, position++, dependency.lag};
  }
}

}  // namespace foretrain
