// A step of a large model as a trace for Perfetto or chrome://tracing: a process for each stage of the
// pipeline.
#pragma once

#include <string>

#include "sim/strategy/parallel/large_step.hpp"

namespace foretrain {

/// Stage by stage: passes with what they wait for, messages to and from neighbours, gradients, the end of the
/// step; of the first micro-batch what its passes are made of. Microseconds, as of chrome_trace.hpp. The last
/// span ends when the step does. Beyond kMostTracedSpans stages in the middle are left out, and said so.
std::string write_parallel_trace(const LargeStepRecord& record);

inline constexpr std::size_t kMostTracedSpans = 100'000;

}  // namespace foretrain
