// A trace from a file or a text: which format it is stands in what it holds.
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

/// One of the two.
struct TraceFile {
  std::optional<Trace> timed;                ///< Kineto
  std::optional<ExecutionTrace> executions;  ///< PyTorch's execution trace, or Chakra's
};

/// Throws InputError for what is none of them, damaged or above the limits.
TraceFile read_trace(std::istream& in, const std::string& name, const TraceLimits& limits = {});
/// Throws EnvironmentError when the file cannot be read.
TraceFile read_trace_file(const std::string& path, const TraceLimits& limits = {});
/// Calls `use` for each file, one in memory at a time; all of them have to be timed. Throws the mistakes of
/// all files at once, those of `use` too.
void each_timed_trace(const std::vector<std::string>& paths, const std::function<void(const Trace&)>& use);

/// Whether a file begins as a trace does; false for what cannot be read.
bool is_trace_file(const std::string& path);
/// Whether a text looks like a trace of any of these formats, packed or not.
bool looks_like_trace(std::string_view text);

}  // namespace foretrain
