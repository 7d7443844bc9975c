// Writes recorded steps as JSON and CSV. Units are seconds, bytes and bytes per second; counts are per step
// when the key says so.
//
// Counts and times of kernels and operators are sums over all steps, and "mean" has the parts of an average
// step. Null stands for what the trace does not contain.
#include <cmath>

#include <fmt/format.h>

#include "sim/report/json_value.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/traces/trace_reports.hpp"

namespace foretrain {

namespace {

/// Returns the parts of a step. They sum to length_s, except the two kinds of communication at the end, which
/// run concurrently with kernels or while the host is late.
Json account_json(const StepAccount& account) {
  Json out = {{"length_s", account.length_s}};
  for (std::size_t i = 0; i < kTraceAccounts; ++i)
    out[std::string(kTraceAccountNames[i]) + "_s"] = account.seconds[i];
  out["overlapped_communication_s"] = account.overlapped_s;
  out["communication_behind_host_s"] = account.behind_host_s;
  return out;
}

/// Returns rows of kernels or operators; only operators have host time.
Json rows_json(const std::vector<TraceRow>& rows, bool operators) {
  Json out = Json::array();
  for (const TraceRow& row : rows) {
    Json one = {{"name", row.name}};
    if (!row.kind.empty()) one["kind"] = row.kind;
    one["count"] = row.count;
    one["gpu_s"] = row.gpu_s;
    one["share"] = row.share;
    if (operators) one["host_s"] = row.host_s;
    out.push_back(std::move(one));
  }
  return out;
}

/// Returns statistics on kernel launches: calls, and delays from a call to the kernel's start.
Json launches_json(const LaunchStatistics& launches) {
  return {
      {"kernels_per_step", launches.kernels},      {"copies_per_step", launches.copies},
      {"call_s", launches.call_us * 1e-6},         {"delay_s", launches.delay_us * 1e-6},
      {"delay_90_s", launches.delay_90_us * 1e-6}, {"step_per_kernel_s", launches.host_per_kernel_us * 1e-6},
      {"without_launch", launches.without_launch}};
}

/// Returns the value, or null when it is unknown.
Json or_null(double value, bool known) { return known ? Json(value) : Json(nullptr); }

/// Returns the collectives by operation, size and ranks.
Json collectives_json(const std::vector<TraceCollectiveRow>& rows) {
  Json out = Json::array();
  for (const TraceCollectiveRow& row : rows)
    out.push_back({{"op", row.op},
                   {"bytes", row.bytes > 0 ? Json(row.bytes) : Json(nullptr)},
                   {"ranks", row.ranks > 0 ? Json(row.ranks) : Json(nullptr)},
                   {"count", row.count},
                   {"median_s", row.median_s},
                   {"least_s", row.least_s},
                   {"busbw_bytes_per_s", or_null(row.bus_rate, row.bus_rate > 0)}});
  return out;
}

/// Returns the parts of each step.
Json steps_json(const TraceSummary& rank) {
  Json out = Json::array();
  for (std::size_t i = 0; i < rank.accounts.size(); ++i) {
    Json one = {{"name", rank.steps.steps.empty() ? "all of it" : rank.steps.steps[i].name}};
    one.update(account_json(rank.accounts[i]));
    out.push_back(std::move(one));
  }
  return out;
}

/// Returns everything about one rank.
Json rank_json(const TraceSummary& rank) {
  return {{"file", rank.file},
          {"rank", rank.rank >= 0 ? Json(rank.rank) : Json(nullptr)},
          {"ranks", rank.ranks > 0 ? Json(rank.ranks) : Json(nullptr)},
          {"gpu", rank.gpu.empty() ? Json(nullptr) : Json(rank.gpu)},
          {"steps_found_by", rank.steps.found_by.empty() ? Json(nullptr) : Json(rank.steps.found_by)},
          {"step_s", or_null(rank.typical_s, rank.typical_s > 0)},
          {"mean", account_json(rank.mean)},
          {"steps", steps_json(rank)},
          {"kinds", rows_json(rank.kinds, false)},
          {"kernels", rows_json(rank.kernels, false)},
          {"operators", rows_json(rank.operators, true)},
          {"launches", launches_json(rank.launches)},
          {"collectives", collectives_json(rank.collectives)},
          {"buckets_bytes", rank.buckets},
          {"notes", rank.notes}};
}

/// Returns the stragglers among ranks; null when there is only one file.
Json stragglers_json(const std::optional<Stragglers>& all) {
  if (!all) return nullptr;
  Json rows = Json::array();
  for (const StragglerRow& row : all->ranks)
    rows.push_back({{"rank", row.rank},
                    {"last", row.last},
                    {"late_s", row.late_s},
                    {"waits_per_step_s", row.waits_s},
                    {"clock_ahead_s", row.clock_s}});
  return {{"matched", all->matched}, {"spread_s", all->spread_s}, {"ranks", rows}};
}

}  // namespace

std::string write_trace_json(const TraceReport& report) {
  Json ranks = Json::array();
  for (const TraceSummary& rank : report.ranks) ranks.push_back(rank_json(rank));
  return json_text({{"schema", "foretrain.trace/1"},
                    {"ranks", ranks},
                    {"stragglers", stragglers_json(report.stragglers)}});
}

// There is one line for each file and step.
std::string write_trace_csv(const TraceReport& report) {
  std::string out = "file,rank,step,length_s";
  for (const std::string_view name : kTraceAccountNames) out += fmt::format(",{}_s", name);
  out += ",overlapped_communication_s,communication_behind_host_s\n";
  for (const TraceSummary& rank : report.ranks) {
    for (std::size_t i = 0; i < rank.accounts.size(); ++i) {
      const StepAccount& account = rank.accounts[i];
      out += fmt::format(
          "{},{},{},{:.9g}", csv_field(rank.file), rank.rank >= 0 ? std::to_string(rank.rank) : "",
          csv_field(rank.steps.steps.empty() ? "all of it" : rank.steps.steps[i].name), account.length_s);
      for (const double seconds : account.seconds) out += fmt::format(",{:.9g}", seconds);
      out += fmt::format(",{:.9g},{:.9g}\n", account.overlapped_s, account.behind_host_s);
    }
  }
  return out;
}

}  // namespace foretrain
