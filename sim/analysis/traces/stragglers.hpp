// Several ranks' traces of the same steps: who enters collectives last, and how long the others wait for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/traces/trace_summary.hpp"

namespace foretrain {

/// A collective of one rank; times in ns on that rank's clock.
struct CollectiveEntry {
  std::string step, op;
  std::int64_t bytes = 0;
  int order = 0;  ///< in its step
  std::int64_t start = 0, end = 0;
};

/// What a trace has of them, in order of time.
std::vector<CollectiveEntry> collective_entries(const Trace& trace, const TraceSummary& summary);

/// One rank of a trace: how often and by how much it was late to collectives, and how long it waited in them.
struct StragglerRow {
  std::string rank;       ///< "rank 1", or the file's name where ranks are not said
  std::int64_t last = 0;  ///< collectives that it entered last
  double late_s = 0;      ///< mean of its start behind the first one's
  double waits_s = 0;     ///< per step, in collectives before the last rank has entered
  double clock_s = 0;     ///< its clock before that of the first file, taken out of all figures
};

/// Ranks of a trace that made the others wait, and for how long.
struct Stragglers {
  std::vector<StragglerRow> ranks;
  std::int64_t matched = 0;  ///< collectives that all ranks have
  double spread_s = 0;       ///< mean of the last one's start behind the first one's
};

/// Clocks are set equal by the ends of collectives, which all ranks leave together. `entries` by rank.
/// Nothing is matched where the ranks' steps have no name in common.
Stragglers find_stragglers(const std::vector<TraceSummary>& ranks,
                           const std::vector<std::vector<CollectiveEntry>>& entries);

/// "rank 1", or its file's name.
std::string rank_title(const TraceSummary& summary);

}  // namespace foretrain
