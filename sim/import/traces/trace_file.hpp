// Declares the reading of a trace from a file or a stream. The format is told by the contents.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/execution_trace.hpp"
#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// The result of a file: exactly one of the two has a value.
struct TraceFile {
  /// Trace with times: Kineto's, or a dump of the flight recorder.
  std::optional<Trace> timed;
  /// PyTorch's execution trace, or Chakra's.
  std::optional<ExecutionTrace> executions;
};

/// Reads a trace from a stream; `name` stands for it in messages. Throws InputError for what is no known
/// format, damaged or above the limits.
TraceFile read_trace(std::istream& in, const std::string& name, const TraceLimits& limits = {});
/// Reads a trace from a file; "-" is standard input. Throws EnvironmentError when the file cannot be read,
/// and InputError as read_trace() does.
TraceFile read_trace_file(const std::string& path, const TraceLimits& limits = {});
/// Calls `use` for each file, with one trace in memory at a time. Files without times are mistakes. Throws
/// InputError with the mistakes of all files at once, those that `use` throws included.
void each_timed_trace(const std::vector<std::string>& paths, const std::function<void(const Trace&)>& use);

/// Returns whether a file begins as a trace does; false for what cannot be read.
bool is_trace_file(const std::string& path);
/// Returns whether a text looks like a trace of any of these formats, packed or not.
bool looks_like_trace(std::string_view text);

}  // namespace foretrain
