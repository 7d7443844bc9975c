// A recorded training for people, as JSON and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/traces/stragglers.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// One file or several ranks' of the same training.
struct TraceReport {
  std::vector<TraceSummary> ranks;
  std::optional<Stragglers> stragglers{};  ///< of several
};

/// The answer in a sentence, then the account of a step, kernels, operators, launches, collectives.
std::string write_trace_table(const TraceReport& report);
/// Schema foretrain.trace/1: keys are added, never renamed. Null for what is not known.
std::string write_trace_json(const TraceReport& report);
/// A line per file and step: its account in seconds.
std::string write_trace_csv(const TraceReport& report);

inline constexpr Format<TraceReport> kTraceFormats[] = {
    {"table", write_trace_table}, {"json", write_trace_json}, {"csv", write_trace_csv}};

/// "222.5 ms", "41.4 us", "1.94 s": for people.
std::string trace_time(double seconds);

}  // namespace foretrain
