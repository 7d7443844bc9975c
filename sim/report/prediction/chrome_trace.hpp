// A step as a trace for chrome://tracing or Perfetto.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"

namespace foretrain {

/// What a trace needs to know beyond tasks and times.
struct TraceContext {
  std::vector<std::string> layers;  ///< labels of tasks that are a layer's
  std::vector<TaskId> step_ends;    ///< last task of each step on the GPU
};

/// Trace Event Format (JSON): one row per queue on which something takes time, one complete event ("X") per
/// task that does, named by what it is ("forward conv1", "next(loader)"), and an instant event at the end of
/// each step; microseconds.
std::string write_chrome_trace(const TaskGraph& graph, const Timeline& timeline, const TraceContext& context);

}  // namespace foretrain
