// Reports on a recorded training: for people, as JSON and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/traces/stragglers.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// The summaries of one file, or of the files of several ranks of the same training.
struct TraceReport {
  std::vector<TraceSummary> ranks;
  /// Stragglers, when there are several files.
  std::optional<Stragglers> stragglers{};
};

/// Returns the answer in a sentence, the parts of a step, kernels, operators, launches and collectives.
std::string write_trace_table(const TraceReport& report);
/// Returns schema foretrain.trace/1. Keys are added, never renamed; unknown values are null.
std::string write_trace_json(const TraceReport& report);
/// Returns a line for each file and step with its parts in seconds.
std::string write_trace_csv(const TraceReport& report);

/// The formats of `trace show`; the first is the default.
inline constexpr Format<TraceReport> kTraceFormats[] = {
    {"table", write_trace_table}, {"json", write_trace_json}, {"csv", write_trace_csv}};

/// Returns a time for people, such as "222.5 ms", "41.4 us" or "1.94 s".
std::string trace_time(double seconds);

}  // namespace foretrain
