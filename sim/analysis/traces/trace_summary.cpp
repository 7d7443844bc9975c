// A summary counts the work that steps launched. Loading of the model before the first step, and work
// launched after the last one, do not count.
#include "sim/analysis/traces/trace_summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

double in_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Returns a quantile; reorders the values. 0 without values.
double quantile(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return static_cast<double>(values[at]);
}

/// Keeps the work of the GPU that is busy longest, and notes that others were left out.
std::vector<TraceLink> of_busiest_device(const Trace& trace, std::vector<TraceLink> links,
                                         TraceSummary& out) {
  std::map<std::int64_t, std::int64_t> busy;
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    busy[trace.lanes[event.lane].process] += event.duration;
  }
  // There is nothing to summarize without work of a GPU; the hint says how to record it.
  if (busy.empty())
    throw InputError(
        std::vector<Diagnostic>{{trace.file,
                                 {},
                                 "",
                                 "has no kernel and no copy of a GPU",
                                 "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"}});
  const auto most = std::ranges::max_element(busy, {}, [](const auto& row) { return row.second; });
  out.device = static_cast<int>(most->first);
  if (busy.size() > 1)
    out.notes.push_back(
        fmt::format("{} GPUs are in this file; shown is GPU {}, which works most", busy.size(), out.device));
  std::erase_if(links, [&](const TraceLink& link) {
    return trace.lanes[trace.events[link.activity].lane].process != most->first;
  });
  return links;
}

/// Returns true for a moment between the first step's begin and the last step's end.
bool in_steps(const std::vector<TraceStep>& steps, std::int64_t at) {
  return !steps.empty() && at >= steps.front().begin && at < steps.back().end;
}

/// Sets the shares of rows and orders them by time on the GPU.
std::vector<TraceRow> rows_by_time(std::map<std::string, TraceRow>& rows, double total) {
  std::vector<TraceRow> out;
  for (auto& [name, row] : rows) {
    row.share = total > 0 ? row.gpu_s / total : 0;
    out.push_back(std::move(row));
  }
  std::ranges::stable_sort(out, std::greater<>{}, [](const TraceRow& row) { return row.gpu_s; });
  return out;
}

/// Returns the kind of a kernel, or of a copy.
std::string kind_of_activity(const Trace& trace, const TraceEvent& event) {
  if (event.kind == TraceKind::memcpy) return "memcpy";
  if (event.kind == TraceKind::memset) return "memset";
  return std::string(kernel_kind(trace.name_of(event)));
}

/// Returns the name of an operator without autograd's prefix: "ConvolutionBackward0".
std::string operator_name(const Trace& trace, std::uint32_t op) {
  if (op == TraceLink::kNone) return "(no operator)";
  constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
  std::string_view name = trace.name_of(trace.events[op]);
  if (name.starts_with(kEngine)) name.remove_prefix(kEngine.size());
  return printable(shortened(name, 80));
}

/// Sums the work by kind, by kernel and by outermost operator.
void count_work(const Trace& trace, const std::vector<TraceLink>& links, TraceSummary& out) {
  std::map<std::string, TraceRow> kinds, kernels, operators;
  // Operators whose host time is counted already.
  std::map<std::uint32_t, bool> seen;
  double total = 0;
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    const std::string kind = kind_of_activity(trace, event);
    const double length = in_s(event.duration);
    total += length;
    const std::string name = short_kernel_name(trace.name_of(event));
    const auto add = [&](std::map<std::string, TraceRow>& rows, const std::string& row_name) -> TraceRow& {
      TraceRow& row = rows[row_name];
      row.name = row_name;
      ++row.count;
      row.gpu_s += length;
      return row;
    };
    add(kinds, kind).kind = kind;
    add(kernels, name).kind = kind;
    TraceRow& op = add(operators, operator_name(trace, link.outer));
    // An operator launches several kernels, but its host time counts once.
    if (link.outer != TraceLink::kNone && !std::exchange(seen[link.outer], true))
      op.host_s += in_s(trace.events[link.outer].duration);
  }
  out.kinds = rows_by_time(kinds, total);
  out.kernels = rows_by_time(kernels, total);
  out.operators = rows_by_time(operators, total);
}

/// Computes the statistics of launches.
void count_launches(const Trace& trace, const std::vector<TraceLink>& links, TraceSummary& out) {
  std::vector<std::int64_t> calls, delays;
  std::int64_t kernels = 0, copies = 0;
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    ++(event.kind == TraceKind::kernel ? kernels : copies);
    if (link.launch == TraceLink::kNone) {
      ++out.launches.without_launch;
      continue;
    }
    const TraceEvent& launch = trace.events[link.launch];
    if (event.kind == TraceKind::kernel) calls.push_back(launch.duration);
    delays.push_back(event.start - launch.start);
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(out.step_count(), 1));
  LaunchStatistics& launches = out.launches;
  launches.kernels = static_cast<double>(kernels) / steps;
  launches.copies = static_cast<double>(copies) / steps;
  launches.call_us = quantile(calls, 0.5) * 1e-3;
  launches.delay_us = quantile(delays, 0.5) * 1e-3;
  launches.delay_90_us = quantile(delays, 0.9) * 1e-3;
  if (launches.kernels > 0) launches.host_per_kernel_us = out.mean.length_s * 1e6 / launches.kernels;
}

/// Returns the details of a collective that the trace states; nullptr if there are none.
const TraceCollective* collective_at(const Trace& trace, const TraceLink& link) {
  const TraceEvent& event = trace.events[link.activity];
  const std::uint32_t detail = event.kind == TraceKind::kernel ? event.detail : 0;
  return detail > 0 && detail <= trace.collectives.size() ? &trace.collectives[detail - 1] : nullptr;
}

/// Groups collectives by kind, size and ranks. Without details, the kernel's name gives the kind.
void count_collectives(const Trace& trace, const std::vector<TraceLink>& links, TraceSummary& out) {
  std::map<std::tuple<std::string, std::int64_t, int>, std::vector<std::int64_t>> times;
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    if (event.kind != TraceKind::kernel || !is_collective_kernel(trace.name_of(event))) continue;
    const TraceCollective* said = collective_at(trace, link);
    const std::string op =
        said != nullptr && !said->op.empty() ? said->op : collective_of(trace.name_of(event));
    const std::int64_t bytes = said != nullptr ? counted_bytes(*said) : 0;
    const int ranks = said != nullptr && said->ranks > 0 ? said->ranks : trace.ranks;
    times[{op, bytes, ranks}].push_back(event.duration);
  }
  for (auto& [what, durations] : times) {
    TraceCollectiveRow row{std::get<0>(what), std::get<1>(what), std::get<2>(what),
                           static_cast<std::int64_t>(durations.size())};
    row.least_s = in_s(std::ranges::min(durations));
    row.median_s = quantile(durations, 0.5) * 1e-9;
    if (row.median_s > 0)
      row.bus_rate = static_cast<double>(row.bytes) * bus_factor(row.op, row.ranks) / row.median_s;
    out.collectives.push_back(std::move(row));
  }
}

/// Collects the all-reduces of the typical step.
void find_buckets(const Trace& trace, const std::vector<TraceLink>& links, TraceSummary& out) {
  const TraceStep* step = typical_step(out.steps);
  if (step == nullptr) return;
  for (const TraceLink& link : links) {
    const TraceCollective* said = collective_at(trace, link);
    const std::int64_t asked = asked_at(trace, link);
    if (said == nullptr || said->op != "all_reduce" || asked < step->begin || asked >= step->end) continue;
    // Smaller messages are values to print, such as a loss.
    if (said->in_bytes() > 64) out.buckets.push_back(said->in_bytes());
  }
}

/// Returns a step that spans the whole trace, for traces without steps.
TraceStep whole_of(const Trace& trace, const std::vector<TraceLink>& links) {
  TraceStep whole{"all of it", asked_at(trace, links.front()), 0};
  for (const TraceLink& link : links) {
    whole.begin = std::min(whole.begin, asked_at(trace, link));
    whole.end = std::max(whole.end, trace.events[link.activity].end());
  }
  return whole;
}

}  // namespace

TraceSummary summarize_trace(const Trace& trace) {
  TraceSummary out;
  out.file = trace.file;
  out.gpu = trace.gpu;
  out.rank = trace.rank;
  out.ranks = trace.ranks;
  out.notes = trace.notes;
  std::vector<TraceLink> links = of_busiest_device(trace, link_activities(trace), out);
  out.steps = find_steps(trace);
  // A trace without steps is summarized as one step.
  const std::vector<TraceStep> shown =
      out.steps.steps.empty() ? std::vector{whole_of(trace, links)} : out.steps.steps;
  if (out.steps.steps.empty())
    out.notes.emplace_back(
        "no steps were found: no ProfilerStep#, no optimizer's step, no kernels that repeat");
  if (out.steps.left_out > 0)
    out.notes.push_back(
        fmt::format("the first {} left out: more than three times as long as the median",
                    out.steps.left_out == 1 ? "step is" : fmt::format("{} steps are", out.steps.left_out)));
  out.accounts = account_steps(trace, links, shown);
  out.mean = mean_account(out.accounts);
  if (const TraceStep* typical = typical_step(out.steps)) out.typical_s = in_s(typical->length());
  // Accounts need all work, because a gap may end with work of the next step; the sums below do not.
  std::erase_if(links, [&](const TraceLink& link) { return !in_steps(shown, asked_at(trace, link)); });
  count_work(trace, links, out);
  count_launches(trace, links, out);
  count_collectives(trace, links, out);
  find_buckets(trace, links, out);
  return out;
}

}  // namespace foretrain
