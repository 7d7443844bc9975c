// The same collective of all ranks is found by its step, its index in the step, its kind and its size.
#include "sim/analysis/traces/stragglers.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

using CollectiveKey = std::tuple<std::string, int, std::string, std::int64_t>;
/// The entries of one collective, by rank.
using MatchedEntries = std::vector<const CollectiveEntry*>;

/// Returns the collectives that every rank has, each with the entries by rank.
std::vector<MatchedEntries> matched_entries(const std::vector<std::vector<CollectiveEntry>>& entries) {
  std::map<CollectiveKey, MatchedEntries> by_key;
  for (const auto& rank : entries) {
    for (const CollectiveEntry& entry : rank)
      by_key[{entry.step, entry.order, entry.op, entry.bytes}].push_back(&entry);
  }
  std::vector<MatchedEntries> out;
  for (auto& [key, found] : by_key) {
    // A collective that a rank lacks cannot be compared.
    if (found.size() == entries.size()) out.push_back(std::move(found));
  }
  return out;
}

/// Returns how far each rank's clock is ahead of the first one's: the median difference of the ends.
std::vector<std::int64_t> clock_offsets(const std::vector<MatchedEntries>& matched, std::size_t ranks) {
  std::vector<std::int64_t> out(ranks, 0);
  for (std::size_t rank = 1; rank < ranks && !matched.empty(); ++rank) {
    std::vector<std::int64_t> differences;
    for (const MatchedEntries& entry : matched) differences.push_back(entry[rank]->end - entry[0]->end);
    // The median ignores collectives during which a clock was adjusted.
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::ranges::nth_element(differences, middle);
    out[rank] = *middle;
  }
  return out;
}

}  // namespace

std::string rank_title(const TraceSummary& summary) {
  if (summary.rank >= 0) return fmt::format("rank {}", summary.rank);
  const std::size_t slash = summary.file.rfind('/');
  return printable(shortened(slash == std::string::npos ? summary.file : summary.file.substr(slash + 1), 40));
}

std::vector<CollectiveEntry> collective_entries(const Trace& trace, const TraceSummary& summary) {
  std::vector<CollectiveEntry> out;
  std::map<std::string, int> orders;
  for (const TraceLink& link : link_activities(trace)) {
    const TraceEvent& event = trace.events[link.activity];
    // A collective belongs to the step in which the host launched it.
    if (event.kind != TraceKind::kernel || !is_collective_kernel(trace.name_of(event))) continue;
    if (trace.lanes[event.lane].process != summary.device) continue;
    const std::int64_t asked = asked_at(trace, link);
    const auto step = std::ranges::find_if(
        summary.steps.steps, [&](const TraceStep& row) { return asked >= row.begin && asked < row.end; });
    const std::string op = collective_of(trace.name_of(event));
    // Sends and receives have two ranks only, so they cannot be matched across all.
    if (step == summary.steps.steps.end() || op == "sendrecv") continue;
    const std::int64_t bytes = event.detail > 0 && event.detail <= trace.collectives.size()
                                   ? counted_bytes(trace.collectives[event.detail - 1])
                                   : 0;
    out.push_back({step->name, op, bytes, orders[step->name]++, event.start, event.end()});
  }
  return out;
}

Stragglers find_stragglers(const std::vector<TraceSummary>& ranks,
                           const std::vector<std::vector<CollectiveEntry>>& entries) {
  Stragglers out;
  const std::vector<MatchedEntries> matched = matched_entries(entries);
  const std::vector<std::int64_t> offsets = clock_offsets(matched, ranks.size());
  out.matched = static_cast<std::int64_t>(matched.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    out.ranks.push_back({rank_title(ranks[rank])});
    out.ranks.back().clock_s = static_cast<double>(offsets[rank]) * 1e-9;
  }
  // Delays are means over the matched collectives.
  const double share = matched.empty() ? 0 : 1e-9 / static_cast<double>(matched.size());
  for (const MatchedEntries& all : matched) {
    std::vector<std::int64_t> starts;
    // Starts are compared on the first rank's clock.
    for (std::size_t rank = 0; rank < all.size(); ++rank) starts.push_back(all[rank]->start - offsets[rank]);
    const auto [first, last] = std::ranges::minmax_element(starts);
    ++out.ranks[static_cast<std::size_t>(last - starts.begin())].last;
    out.spread_s += share * static_cast<double>(*last - *first);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto steps = static_cast<double>(std::max<std::size_t>(ranks[rank].step_count(), 1));
      out.ranks[rank].late_s += share * static_cast<double>(starts[rank] - *first);
      out.ranks[rank].waits_s += 1e-9 * static_cast<double>(*last - starts[rank]) / steps;
    }
  }
  return out;
}

}  // namespace foretrain
