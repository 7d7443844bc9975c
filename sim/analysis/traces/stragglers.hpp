// Traces of several ranks over the same steps: who enters collectives last, and how long the others wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/traces/trace_summary.hpp"

namespace foretrain {

/// A collective of one rank; times are in ns on that rank's clock.
struct CollectiveEntry {
  std::string step, op;
  std::int64_t bytes = 0;
  /// Index within its step.
  int order = 0;
  std::int64_t start = 0, end = 0;
};

/// Returns the collectives of a trace in order of time, sends and receives excepted.
std::vector<CollectiveEntry> collective_entries(const Trace& trace, const TraceSummary& summary);

/// A rank: how often and by how much it was late to collectives, and how long it waited in them.
struct StragglerRow {
  /// "rank 1", or the file's name where the rank is unknown.
  std::string rank;
  /// Collectives that it entered last.
  std::int64_t last = 0;
  /// Mean of its start after the first rank's.
  double late_s = 0;
  /// Seconds for each step in collectives before the last rank has entered.
  double waits_s = 0;
  /// Its clock ahead of that of the first file, which is removed from all figures.
  double clock_s = 0;
};

/// The ranks of a job with their delays.
struct Stragglers {
  std::vector<StragglerRow> ranks;
  /// Collectives that all ranks have.
  std::int64_t matched = 0;
  /// Mean of the last rank's start after the first one's.
  double spread_s = 0;
};

/// Compares the ranks. Clocks are aligned by the ends of collectives, which all ranks leave together.
/// `entries` is by rank. Nothing is matched where the ranks' steps have no name in common.
Stragglers find_stragglers(const std::vector<TraceSummary>& ranks,
                           const std::vector<std::vector<CollectiveEntry>>& entries);

/// Returns "rank 1", or the name of its file.
std::string rank_title(const TraceSummary& summary);

}  // namespace foretrain
