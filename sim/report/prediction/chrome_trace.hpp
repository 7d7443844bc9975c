// A step as a trace for chrome://tracing or Perfetto.
#pragma once

#include <string>

#include "sim/engine/timeline.hpp"

namespace foretrain {

/// Trace Event Format (JSON): one row per queue, one complete event ("X") per task that takes time;
/// microseconds.
std::string write_chrome_trace(const TaskGraph& graph, const Timeline& timeline);

}  // namespace foretrain
