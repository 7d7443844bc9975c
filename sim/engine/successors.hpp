// Which tasks wait for a task: the dependencies of a graph, turned round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// All edges of a graph in one array, rows by the task waited for.
class Successors {
 public:
  struct Edge {
    TaskId task;
    std::uint32_t position;  ///< in the task's dependency list
    Time lag;
  };

  explicit Successors(const TaskGraph& graph);
  std::span<const Edge> of(TaskId task) const { return std::span(edges_).subspan(first_[task], first_[task + 1] - first_[task]); }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Edge> edges_;
};

}  // namespace foretrain
