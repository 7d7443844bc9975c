// Training steps of a trace, and which call put which work on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// From its first call on the host to that of the next step.
struct TraceStep {
  std::string name;  ///< "ProfilerStep#5", "step 2"
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
};

/// The training steps of a trace: their bounds, and how they were found.
struct TraceSteps {
  std::vector<TraceStep> steps;  ///< in order of time, without gaps; empty: none found
  std::string found_by;          ///< "ProfilerStep#", "Optimizer.step#", "kernels that repeat"
  std::size_t left_out = 0;      ///< at the start: longer than three typical ones, as first steps are
};

/// By the profiler's own marks, else from one optimizer's step to the next, else by kernels that repeat in
/// the same order at least twice.
TraceSteps find_steps(const Trace& trace);

/// The step with the median length; nullptr without steps.
const TraceStep* typical_step(const TraceSteps& steps);

/// Work of a GPU with the calls that asked for it. Numbers are places in Trace::events.
struct TraceLink {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  std::uint32_t activity = kNone;
  std::uint32_t launch = kNone;      ///< call of the CUDA runtime
  std::uint32_t op = kNone;          ///< innermost operator around it
  std::uint32_t outer = kNone;       ///< outermost operator around it
  std::uint32_t annotation = kNone;  ///< innermost "Optimizer.step#..." or other mark of the user around it
  std::uint32_t mark = kNone;        ///< outermost but for the profiler's own steps
};

/// All kernels and copies by start. What has no launch in the trace is linked by the operator's number alone,
/// where the file has both.
std::vector<TraceLink> link_activities(const Trace& trace);

/// When the work was asked for: its launch, else its own start.
std::int64_t asked_at(const Trace& trace, const TraceLink& link);

/// Whether a mark is that of an optimizer's step, or of data loading.
bool is_optimizer_mark(std::string_view name);
bool is_loading_mark(std::string_view name);
/// "ProfilerStep#5".
bool is_step_mark(std::string_view name);

}  // namespace foretrain
