// The plain twin of the executor for graphs without pools, traffic and shared devices: one pass in the order
// of the ids.
#pragma once

#include "sim/engine/timeline.hpp"

namespace foretrain::test {

/// Every dependency points backward, so each task's start is known when its turn comes.
inline Timeline naive_run(const TaskGraph& graph) {
  Timeline timeline;
  for (TaskId task = 0; task < graph.tasks().size(); ++task) {
    Span span;
    for (const Dependency& dependency : graph.dependencies(task)) {
      const Time at = timeline.end_of(dependency.before) + dependency.lag;
      if (span.released_by == kNone || at > span.start) span = {at, {}, dependency.before, dependency.lag};
    }
    span.end = span.start + graph.tasks()[task].duration;
    timeline.spans.push_back(span);
  }
  return timeline;
}

}  // namespace foretrain::test
