// A step of a large model as a trace for Perfetto or chrome://tracing, with a process for each pipeline
// stage.
#pragma once

#include <string>

#include "sim/strategy/parallel/large_step.hpp"

namespace foretrain {

/// Returns the trace. Each stage has its passes with their waits, messages to and from its neighbours,
/// gradients, and the end of the step. For the first micro-batch it also shows the parts of a pass. Times are
/// as in chrome_trace.hpp. When there would be more than kMostTracedSpans spans, stages in the middle are
/// left out, and a note says so.
std::string write_parallel_trace(const LargeStepRecord& record);

/// Largest number of spans in a trace.
inline constexpr std::size_t kMostTracedSpans = 100'000;

}  // namespace foretrain
