// A sweep over the moments at which something starts or ends; gaps are explained by the launch of what ends
// them.
#include "sim/analysis/traces/trace_account.hpp"

#include <algorithm>

namespace foretrain {

namespace {

enum class Work : std::uint8_t { compute, optimizer, communication, copy };

struct WorkInterval {
  std::int64_t begin = 0, end = 0;
  std::int64_t asked = -1;  ///< when it was launched; -1: not known
  Work work = Work::compute;
};

struct HostInterval {
  std::int64_t begin = 0, end = 0;
};

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

std::vector<HostInterval> loading_intervals(const Trace& trace) {
  std::vector<HostInterval> out;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::annotation || !is_loading_mark(trace.name_of(event))) continue;
    if (!out.empty() && event.start <= out.back().end)
      out.back().end = std::max(out.back().end, event.end());
    else
      out.push_back({event.start, event.end()});
  }
  return out;
}

std::int64_t overlap_with(const std::vector<HostInterval>& sorted, std::int64_t begin, std::int64_t end) {
  std::int64_t sum = 0;
  auto row = std::ranges::lower_bound(sorted, begin, {}, &HostInterval::end);
  for (; row != sorted.end() && row->begin < end; ++row)
    sum += std::max<std::int64_t>(0, std::min(row->end, end) - std::max(row->begin, begin));
  return sum;
}

double to_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Sweeps one step.
class StepSweep {
 public:
  StepSweep(const std::vector<WorkInterval>& work, const std::vector<HostInterval>& loading)
      : work_(work), loading_(loading) {}

  StepAccount account(const TraceStep& step) {
    StepAccount out;
    out.length_s = to_s(step.length());
    struct Moment {
      std::int64_t at = 0;
      int change = 0;
      Work work = Work::compute;
    };
    // Work is sorted by its start; the longest tells how far back one must look.
    std::vector<Moment> moments;
    auto row = std::ranges::lower_bound(work_, step.begin - longest(), {}, &WorkInterval::begin);
    for (; row != work_.end() && row->begin < step.end; ++row) {
      if (row->end <= step.begin) continue;
      moments.push_back({std::max(row->begin, step.begin), 1, row->work});
      moments.push_back({std::min(row->end, step.end), -1, row->work});
    }
    std::ranges::sort(moments, [](const Moment& a, const Moment& b) {
      return a.at != b.at ? a.at < b.at : a.change > b.change;
    });
    std::array<int, 4> running{};
    std::int64_t now = step.begin;
    for (const Moment& moment : moments) {
      add(out, running, now, moment.at);
      running[static_cast<std::size_t>(moment.work)] += moment.change;
      now = std::max(now, moment.at);
    }
    add(out, running, now, step.end);
    return out;
  }

 private:
  std::int64_t longest() {
    if (longest_ < 0) {
      for (const WorkInterval& row : work_) longest_ = std::max(longest_, row.end - row.begin);
    }
    return longest_;
  }

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
    else if (runs(Work::communication))
      out.of(TraceAccount::communication) += length;
    else if (runs(Work::copy))
      out.of(TraceAccount::copy) += length;
    else
      add_idle(out, begin, end);
  }

  void add_idle(StepAccount& out, std::int64_t begin, std::int64_t end) const {
    const auto next = std::ranges::lower_bound(work_, end, {}, &WorkInterval::begin);
    const std::int64_t asked = next == work_.end() ? end : next->asked;  // nothing follows: the host is late
    if (asked < 0) {
      out.of(TraceAccount::unknown) += to_s(end - begin);
      return;
    }
    const std::int64_t late = std::clamp(asked, begin, end);
    const std::int64_t loaded = overlap_with(loading_, begin, late);
    out.of(TraceAccount::loading) += to_s(loaded);
    out.of(TraceAccount::host) += to_s(late - begin - loaded);
    const bool queued = asked < begin && end - begin > kKernelGap;
    out.of(queued ? TraceAccount::waiting : TraceAccount::launch) += to_s(end - late);
  }

  const std::vector<WorkInterval>& work_;
  const std::vector<HostInterval>& loading_;
  std::int64_t longest_ = -1;
};

}  // namespace

double StepAccount::idle_s() const {
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(TraceAccount::loading); i < kTraceAccounts; ++i)
    sum += seconds[i];
  return sum;
}

std::vector<StepAccount> account_steps(const Trace& trace, const std::vector<TraceLink>& links,
                                       const std::vector<TraceStep>& steps) {
  std::vector<WorkInterval> work;
  work.reserve(links.size());
  for (const TraceLink& link : links) {
    const TraceEvent& event = trace.events[link.activity];
    const std::int64_t asked = link.launch == TraceLink::kNone ? -1 : trace.events[link.launch].start;
    work.push_back({event.start, event.end(), asked, work_of(trace, link)});
  }
  const std::vector<HostInterval> loading = loading_intervals(trace);
  StepSweep sweep(work, loading);
  std::vector<StepAccount> out;
  for (const TraceStep& step : steps) out.push_back(sweep.account(step));
  return out;
}

StepAccount mean_account(const std::vector<StepAccount>& accounts) {
  StepAccount out;
  for (const StepAccount& account : accounts) {
    const double share = 1.0 / static_cast<double>(accounts.size());
    for (std::size_t i = 0; i < kTraceAccounts; ++i) out.seconds[i] += share * account.seconds[i];
    out.overlapped_s += share * account.overlapped_s;
    out.length_s += share * account.length_s;
  }
  return out;
}

}  // namespace foretrain
