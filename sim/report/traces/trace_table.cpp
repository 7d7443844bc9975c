// Writes a recorded training as tables. The first sentence says what a step waits for, and everything below
// is evidence.
//
// The parts of a step are disjoint and sum to it: GPU work by kind, and idle time by its reason. Kernels
// count before communication, so only communication that no kernel overlaps has a part of its own.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/traces/trace_reports.hpp"

namespace foretrain {

namespace {

// Largest number of rows of kernels and operators.
constexpr std::size_t kRowsShown = 12;

// A part of the step in words.
struct AccountWords {
  TraceAccount account;
  // The row of the table, and the end of the first sentence.
  std::string_view what, cause;
};

// Parts up to copies are GPU work; the others are reasons why the GPU is idle.
constexpr std::array<AccountWords, kTraceAccounts> kAccountWords{{
    {TraceAccount::compute, "kernels of forward and backward", "its kernels"},
    {TraceAccount::optimizer, "kernels of the optimizer", "the optimizer's kernels"},
    {TraceAccount::communication, "communication that nothing hides", "communication that nothing hides"},
    {TraceAccount::copy, "copies and fills alone", "copies"},
    {TraceAccount::loading, "idle: the host fetches a batch", "the data loader"},
    {TraceAccount::host, "idle: the host has not launched yet", "the host, which launches kernels too late"},
    {TraceAccount::launch, "idle: between launch and start", "the gaps between its kernels"},
    {TraceAccount::waiting, "idle: launched, waits for an event", "events that streams wait for"},
    {TraceAccount::unknown, "idle: launches are not in the trace", "what the trace does not say"},
}};

/// Returns a share in percent; "-" without a whole.
std::string share_text(double part, double whole) {
  return whole > 0 ? percent(part / whole, 1) + " %" : "-";
}

/// Returns the part with the most time.
const AccountWords& largest_account(const StepAccount& mean) {
  return *std::ranges::max_element(kAccountWords, {},
                                   [&](const AccountWords& words) { return mean.of(words.account); });
}

/// Returns the first sentence: step time, and what most of it is spent on.
std::string answer(const TraceSummary& rank) {
  const AccountWords& words = largest_account(rank.mean);
  const bool has_steps = rank.typical_s > 0;
  std::string out = has_steps
                        ? fmt::format("A step takes {}", trace_time(rank.typical_s))
                        : fmt::format("The trace is {} long, without steps", trace_time(rank.mean.length_s));
  out += fmt::format("; {} of it {} {}.", share_text(rank.mean.of(words.account), rank.mean.length_s),
                     words.account < TraceAccount::loading ? "are" : "the GPU waits for", words.cause);
  // Idle time is mentioned when it is considerable and not already the subject of the sentence.
  const double idle = rank.mean.idle_s();
  if (words.account < TraceAccount::loading && idle > 0.02 * rank.mean.length_s)
    out += fmt::format(" The GPU idles {} of the time.", share_text(idle, rank.mean.length_s));
  return out + "\n";
}

/// Returns the line with file, rank, GPU, and how steps were found.
std::string heading(const TraceSummary& rank) {
  std::string out = printable(shortened(rank.file, 100));
  if (rank.rank >= 0)
    out += fmt::format(", rank {}{}", rank.rank, rank.ranks > 0 ? fmt::format(" of {}", rank.ranks) : "");
  if (!rank.gpu.empty()) out += ", " + printable(rank.gpu);
  const auto steps = static_cast<std::int64_t>(rank.steps.steps.size());
  if (steps > 0) out += fmt::format(", {} found by {}", counted(steps, "step"), rank.steps.found_by);
  return out + "\n";
}

/// Returns the table of parts with their shares, and how much of the communication was overlapped.
std::string account_table(const TraceSummary& rank) {
  const double length = rank.mean.length_s;
  std::string out =
      fmt::format("\n{:<42} {:>10} {:>8}\n", "Where a step's time goes (mean)", "time", "share");
  for (const AccountWords& words : kAccountWords) {
    const double seconds = rank.mean.of(words.account);
    // Parts that do not occur are left out.
    if (seconds < 1e-9) continue;
    out +=
        fmt::format("  {:<40} {:>10} {:>8}\n", words.what, trace_time(seconds), share_text(seconds, length));
  }
  out += fmt::format("  {:<40} {:>10}\n", "step", trace_time(length));
  const double hidden = rank.mean.overlapped_s, behind = rank.mean.behind_host_s;
  const double all = hidden + behind + rank.mean.of(TraceAccount::communication);
  if (all > 0)
    out += fmt::format("  communication: {}, {} of it behind kernels, {} while the host was late anyway\n",
                       trace_time(all), share_text(hidden, all), share_text(behind, all));
  return out;
}

/// Returns a table of kernels or operators: name, kind, number and time per step, share.
std::string work_table(std::string_view title, const std::vector<TraceRow>& rows, double steps, bool kinds) {
  std::string out = fmt::format("\n{:<62} {:>14} {:>8} {:>10} {:>8}\n", title, kinds ? "kind" : "", "a step",
                                "time", "share");
  for (std::size_t i = 0; i < std::min(rows.size(), kRowsShown); ++i) {
    const TraceRow& row = rows[i];
    out += fmt::format("  {:<60} {:>14} {:>8} {:>10} {:>8}\n", row.name, kinds ? row.kind : "",
                       decimal(static_cast<double>(row.count) / steps, 1), trace_time(row.gpu_s / steps),
                       percent(row.share, 1) + " %");
  }
  if (rows.size() > kRowsShown)
    out += fmt::format("  and {}\n", counted(static_cast<std::int64_t>(rows.size() - kRowsShown), "other"));
  return out;
}

/// Returns statistics on launches in sentences.
std::string launch_lines(const TraceSummary& rank) {
  const LaunchStatistics& launches = rank.launches;
  std::string out = fmt::format("\nLaunches: {} kernels and {} copies a step", decimal(launches.kernels, 0),
                                decimal(launches.copies, 0));
  if (launches.call_us > 0)
    out += fmt::format(", {} us in each call, {} us from call to start (a tenth above {} us)",
                       decimal(launches.call_us, 1), decimal(launches.delay_us, 1),
                       decimal(launches.delay_90_us, 0));
  out += fmt::format(".\nOne kernel every {} us of the step.\n", decimal(launches.host_per_kernel_us, 1));
  if (launches.without_launch > 0)
    out += fmt::format("{} of them were launched before the trace began or are not in it.\n",
                       launches.without_launch);
  return out;
}

/// Returns the table of collectives. Columns: operation, bytes, ranks, calls per step, median and least time,
/// bus bandwidth.
std::string collective_lines(const TraceSummary& rank) {
  if (rank.collectives.empty()) return "";
  std::string out = fmt::format("\n{:<20} {:>14} {:>6} {:>8} {:>10} {:>10} {:>10}\n", "Collectives", "bytes",
                                "ranks", "a step", "median", "least", "busbw");
  const auto steps = static_cast<double>(std::max<std::size_t>(rank.step_count(), 1));
  for (const TraceCollectiveRow& row : rank.collectives) {
    out += fmt::format(
        "  {:<18} {:>14} {:>6} {:>8} {:>10} {:>10} {:>10}\n", row.op,
        row.bytes > 0 ? std::to_string(row.bytes) : "-", row.ranks > 0 ? std::to_string(row.ranks) : "-",
        decimal(static_cast<double>(row.count) / steps, 1), trace_time(row.median_s), trace_time(row.least_s),
        row.bus_rate > 0 ? decimal(row.bus_rate * 1e-9, 1) + " GB/s" : "-");
  }
  if (!rank.buckets.empty()) {
    out += "  buckets of gradients, in their order:";
    for (const std::int64_t bytes : rank.buckets)
      out += fmt::format(" {}", decimal(static_cast<double>(bytes) / (1 << 20), 2));
    out += " MiB\n";
  }
  return out;
}

/// Returns the table of stragglers: how often a rank enters a collective last, by how much, how long it waits
/// for others, and how far its clock is ahead.
std::string straggler_lines(const Stragglers& all) {
  if (all.matched == 0) return "\nNo collective is in all files: are they of the same steps?\n";
  const auto worst = std::ranges::max_element(all.ranks, {}, &StragglerRow::last);
  std::string out = fmt::format(
      "\nStragglers: {} enters {} of {} collectives last; the last enters {} after the first on average.\n",
      worst->rank, worst->last, all.matched, trace_time(all.spread_s));
  out += fmt::format("  {:<40} {:>8} {:>10} {:>14} {:>12}\n", "", "last", "late by", "waits a step",
                     "clock ahead");
  for (const StragglerRow& row : all.ranks)
    out += fmt::format("  {:<40} {:>8} {:>10} {:>14} {:>12}\n", row.rank, row.last, trace_time(row.late_s),
                       trace_time(row.waits_s), trace_time(row.clock_s));
  return out;
}

}  // namespace

// The thresholds lie just below a power of ten, so that no value is rounded to 1000 of a unit.
std::string trace_time(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-12) return "0";
  if (size < 0.9995e-3) return decimal(seconds * 1e6, size < 0.9995e-5 ? 2 : 1) + " us";
  if (size < 0.9995) return decimal(seconds * 1e3, size < 0.00995 ? 2 : 1) + " ms";
  return decimal(seconds, size < 9.95 ? 2 : 1) + " s";
}

// Tables of kernels are only written for the first rank, since ranks run the same kernels.
std::string write_trace_table(const TraceReport& report) {
  std::string out;
  for (const TraceSummary& rank : report.ranks) {
    const auto steps = static_cast<double>(std::max<std::size_t>(rank.step_count(), 1));
    if (!out.empty()) out += "\n";
    out += answer(rank) + heading(rank) + account_table(rank);
    const bool is_first = &rank == &report.ranks.front();
    if (is_first) {
      out += work_table("Kinds of kernels", rank.kinds, steps, false);
      out += work_table("Kernels", rank.kernels, steps, true);
      out += work_table("Operators, by what they launch", rank.operators, steps, false);
      out += launch_lines(rank);
    }
    out += collective_lines(rank);
    for (const std::string& note : rank.notes) out += "note: " + printable(note) + "\n";
  }
  if (report.stragglers) out += straggler_lines(*report.stragglers);
  return out;
}

}  // namespace foretrain
