// What a slice of a trace is called.
#pragma once

#include <string>

#include "sim/report/prediction/chrome_trace.hpp"

namespace foretrain {

std::string_view name_of(TaskKind kind);

/// A name for each task: kernels and collectives by their label, with the pass for layers; host work by what
/// it launches or waits for.
std::vector<std::string> trace_names(const TaskGraph& graph, const std::vector<std::string>& layers);

}  // namespace foretrain
