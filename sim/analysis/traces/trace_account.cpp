// A sweep over the moments at which work starts or ends on the GPU. Between two moments a fixed order of
// precedence decides the account. A gap is explained by the launch of the kernel that ends it.
#include "sim/analysis/traces/trace_account.hpp"

#include <algorithm>
#include <iterator>

namespace foretrain {

namespace {

/// Kinds of work on a GPU.
enum class Work : std::uint8_t { compute, optimizer, communication, copy };

/// A piece of work on the GPU, in ns.
struct WorkInterval {
  std::int64_t begin = 0, end = 0;
  /// Time of its launch; -1 if unknown.
  std::int64_t asked = -1;
  Work work = Work::compute;
};

/// A span of time on the host, in ns.
struct HostInterval {
  std::int64_t begin = 0, end = 0;
};

/// Returns the kind of work; the mark around its launch tells the optimizer's kernels from others.
Work work_of(const Trace& trace, const TraceLink& link) {
  const TraceEvent& event = trace.events[link.activity];
  if (event.kind != TraceKind::kernel) return Work::copy;
  if (is_collective_kernel(trace.name_of(event))) return Work::communication;
  for (const std::uint32_t mark : {link.annotation, link.mark}) {
    if (mark != TraceLink::kNone && is_optimizer_mark(trace.name_of(trace.events[mark])))
      return Work::optimizer;
  }
  return Work::compute;
}

/// Spans of loading and of waiting on the host; each list is sorted and without overlaps.
struct HostIntervals {
  std::vector<HostInterval> loading, waiting;
};

/// Adds a span, joined with the last one if they overlap. Events must come in order of start.
void add_interval(std::vector<HostInterval>& all, const TraceEvent& event) {
  if (!all.empty() && event.start <= all.back().end)
    all.back().end = std::max(all.back().end, event.end());
  else
    all.push_back({event.start, event.end()});
}

HostIntervals host_intervals(const Trace& trace) {
  HostIntervals out;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceKind::sync) add_interval(out.waiting, event);
    if (event.kind == TraceKind::annotation && is_loading_mark(trace.name_of(event)))
      add_interval(out.loading, event);
  }
  return out;
}

/// Returns the overlap of a span with a sorted list; logarithmic plus the spans that overlap.
std::int64_t overlap_with(const std::vector<HostInterval>& sorted, std::int64_t begin, std::int64_t end) {
  std::int64_t sum = 0;
  auto row = std::ranges::lower_bound(sorted, begin, {}, &HostInterval::end);
  for (; row != sorted.end() && row->begin < end; ++row)
    sum += std::max<std::int64_t>(0, std::min(row->end, end) - std::max(row->begin, begin));
  return sum;
}

double to_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Computes the account of single steps.
class StepSweep {
 public:
  StepSweep(const std::vector<WorkInterval>& work, const std::vector<WorkInterval>& kernels,
            const HostIntervals& host)
      : work_(work), kernels_(kernels), host_(host) {}

  StepAccount account(const TraceStep& step) {
    StepAccount out;
    out.length_s = to_s(step.length());
    struct Moment {
      std::int64_t at = 0;
      int change = 0;
      Work work = Work::compute;
    };
    // Work is sorted by its start; the longest piece tells how far back the search must begin.
    std::vector<Moment> moments;
    auto row = std::ranges::lower_bound(work_, step.begin - longest(), {}, &WorkInterval::begin);
    for (; row != work_.end() && row->begin < step.end; ++row) {
      if (row->end <= step.begin) continue;
      moments.push_back({std::max(row->begin, step.begin), 1, row->work});
      moments.push_back({std::min(row->end, step.end), -1, row->work});
    }
    // Starts come before ends at equal times, so that no count becomes negative for work without length.
    std::ranges::sort(moments, [](const Moment& a, const Moment& b) {
      return a.at != b.at ? a.at < b.at : a.change > b.change;
    });
    std::array<int, 4> running{};
    std::int64_t now = step.begin;
    // The counts of running work change at each moment; the time since the previous one has one account.
    for (const Moment& moment : moments) {
      add(out, running, now, moment.at);
      running[static_cast<std::size_t>(moment.work)] += moment.change;
      now = std::max(now, moment.at);
    }
    add(out, running, now, step.end);
    return out;
  }

 private:
  /// Returns the longest piece of work; computed once.
  std::int64_t longest() {
    if (longest_ < 0) {
      for (const WorkInterval& row : work_) longest_ = std::max(longest_, row.end - row.begin);
    }
    return longest_;
  }

  /// Adds the time between two moments to the account with the highest precedence: compute, optimizer, copy,
  /// then gaps.
  void add(StepAccount& out, const std::array<int, 4>& running, std::int64_t begin, std::int64_t end) const {
    if (end <= begin) return;
    const auto runs = [&running](Work work) { return running[static_cast<std::size_t>(work)] > 0; };
    const double length = to_s(end - begin);
    const bool computes = runs(Work::compute) || runs(Work::optimizer);
    if (computes && runs(Work::communication)) out.overlapped_s += length;
    if (runs(Work::compute))
      out.of(TraceAccount::compute) += length;
    else if (runs(Work::optimizer))
      out.of(TraceAccount::optimizer) += length;
    else if (runs(Work::copy))
      out.of(TraceAccount::copy) += length;
    else
      add_gap(out, runs(Work::communication), begin, end);
  }

  /// Divides a gap, in which at most a collective runs, among the reasons why the next kernel does not run.
  /// Up to the launch of that kernel the host is late: it loads, it waits for the GPU, or it works. After the
  /// launch the GPU is late: by communication, an event, or the launch itself.
  void add_gap(StepAccount& out, bool communicates, std::int64_t begin, std::int64_t end) const {
    const auto next = std::ranges::lower_bound(kernels_, end, {}, &WorkInterval::begin);
    // A gap that no kernel follows is the host's.
    const std::int64_t asked = next == kernels_.end() ? end : next->asked;
    if (asked < 0) {
      out.of(communicates ? TraceAccount::communication : TraceAccount::unknown) += to_s(end - begin);
      return;
    }
    const std::int64_t late = std::clamp(asked, begin, end);
    // The parts of the late time are disjoint: loading first, then waiting, and the rest is the host's own.
    const std::int64_t loaded = overlap_with(host_.loading, begin, late);
    const std::int64_t waited = communicates ? overlap_with(host_.waiting, begin, late) : 0;
    const std::int64_t own = std::max<std::int64_t>(0, late - begin - loaded - waited);
    out.of(TraceAccount::loading) += to_s(loaded);
    out.of(TraceAccount::communication) += to_s(late - begin - loaded - own);
    out.of(TraceAccount::host) += to_s(own);
    if (communicates) out.behind_host_s += to_s(own + loaded);
    // Work that was launched before the gap began waited in the queue, unless the gap is the GPU's own.
    const bool queued = asked < begin && end - begin > kKernelGap;
    out.of(communicates ? TraceAccount::communication
           : queued     ? TraceAccount::waiting
                        : TraceAccount::launch) += to_s(end - late);
  }

  const std::vector<WorkInterval>& work_;
  /// Work without communication.
  const std::vector<WorkInterval>& kernels_;
  const HostIntervals& host_;
  std::int64_t longest_ = -1;
};

}  // namespace

/// The accounts are in the order of the enumeration, so idle time is a suffix.
double StepAccount::idle_s() const {
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(TraceAccount::loading); i < kTraceAccounts; ++i)
    sum += seconds[i];
  return sum;
}

/// Communication is left out of `kernels`, because a collective does not end a gap of computation.
std::vector<StepAccount> account_steps(const Trace& trace, const std::vector<TraceLink>& links,
                                       const std::vector<TraceStep>& steps) {
  std::vector<WorkInterval> work;
  work.reserve(links.size());
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    const std::int64_t asked = link.launch == TraceLink::kNone ? -1 : trace.events[link.launch].start;
    work.push_back({event.start, event.end(), asked, work_of(trace, link)});
  }
  std::vector<WorkInterval> kernels;
  std::ranges::copy_if(work, std::back_inserter(kernels),
                       [](const WorkInterval& row) { return row.work != Work::communication; });
  const HostIntervals host = host_intervals(trace);
  StepSweep sweep(work, kernels, host);
  std::vector<StepAccount> out;
  for (const TraceStep& step : steps) out.push_back(sweep.account(step));
  return out;
}

/// Every step has the same weight, whatever its length.
StepAccount mean_account(const std::vector<StepAccount>& accounts) {
  StepAccount out;
  for (const StepAccount& account : accounts) {
    const double share = 1.0 / static_cast<double>(accounts.size());
    for (std::size_t i = 0; i < kTraceAccounts; ++i) out.seconds[i] += share * account.seconds[i];
    out.overlapped_s += share * account.overlapped_s;
    out.behind_host_s += share * account.behind_host_s;
    out.length_s += share * account.length_s;
  }
  return out;
}

}  // namespace foretrain
