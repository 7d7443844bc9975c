// The names of the spans of a trace.
#pragma once

#include <string>

#include "sim/report/prediction/chrome_trace.hpp"

namespace foretrain {

/// Returns "host", "kernel", "copy", "collective" or "wait".
std::string_view name_of(TaskKind kind);

/// Returns a name for each task. Kernels and collectives are named by their label, and by the pass for
/// layers; host work is named by what it launches or waits for.
std::vector<std::string> trace_names(const TaskGraph& graph, const std::vector<std::string>& layers);

}  // namespace foretrain
