// Declares the training steps of a trace, and the links between calls and the work that they put on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// A step, from its first call on the host to that of the next step. Times in ns.
struct TraceStep {
  /// Name, such as "ProfilerStep#5" or "step 2".
  std::string name;
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
};

/// The training steps of a trace: their bounds, and how they were found.
struct TraceSteps {
  /// Steps in order of time, without gaps; empty: none found.
  std::vector<TraceStep> steps;
  /// "ProfilerStep#", "Optimizer.step#" or "kernels that repeat".
  std::string found_by;
  /// Steps at the start that were left out, because they are longer than three typical ones, as first steps
  /// are.
  std::size_t left_out = 0;
};

/// Returns the steps by the profiler's own marks, otherwise from one optimizer's step to the next, otherwise
/// by kernels that repeat in the same order at least twice. Linear in the events, except for sorting.
TraceSteps find_steps(const Trace& trace);

/// Returns the step with the median length; nullptr without steps. It points into `steps`.
const TraceStep* typical_step(const TraceSteps& steps);

/// Work of a GPU with the calls that asked for it. Numbers are indices in Trace::events.
struct TraceLink {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  std::uint32_t activity = kNone;
  /// Call of the CUDA runtime.
  std::uint32_t launch = kNone;
  /// Innermost operator around it.
  std::uint32_t op = kNone;
  /// Outermost operator around it.
  std::uint32_t outer = kNone;
  /// Innermost mark of the user around it, such as "Optimizer.step#...".
  std::uint32_t annotation = kNone;
  /// Outermost mark around it, without the profiler's own steps.
  std::uint32_t mark = kNone;
};

/// Returns all kernels and copies by start. Work without a launch in the trace is linked by the operator's
/// number alone, where the file has both.
std::vector<TraceLink> link_activities(const Trace& trace);

/// Returns when the work was asked for: the start of its launch, otherwise its own. In ns.
std::int64_t asked_at(const Trace& trace, const TraceLink& link);

/// Returns whether a mark is that of an optimizer's step; the next function, that of data loading.
bool is_optimizer_mark(std::string_view name);
bool is_loading_mark(std::string_view name);
/// Returns whether a mark is that of a profiler's step, such as "ProfilerStep#5".
bool is_step_mark(std::string_view name);

}  // namespace foretrain
