// Writes counters: values that change at starts and ends of tasks.
#include <algorithm>
#include <map>

#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

using Changes = std::map<Time, double>;  ///< by how much, when

/// Writes the counter of these changes, divided by `unit`. Changes before the shown steps are summed to one
/// initial value.
void write(const RankTrace& trace, const Changes& changes, std::string_view name, std::string_view series,
           double value, double unit) {
  Time last = trace.from;
  double before = value;
  // Everything before the first shown step is one value.
  bool is_open = true;
  for (const auto& [at, change] : changes) {
    if (at > trace.from && is_open) {
      trace.events.counter(trace.process, name, last, series, std::max(0.0, before) / unit);
      is_open = false;
    }
    before += change;
    if (at > trace.from) trace.events.counter(trace.process, name, at, series, std::max(0.0, before) / unit);
  }
}

/// Counts messages whose inputs are ready and which have not arrived yet.
void add_in_flight(const RankTrace& trace) {
  const TaskGraph& graph = trace.rank.graph;
  Changes changes;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (graph.tasks()[id].kind != TaskKind::collective || !trace.shows(id)) continue;
    // A message is ready when everything on other queues that it depends on has ended.
    Time ready{};
    for (const Dependency& d : graph.dependencies(id)) {
      if (graph.tasks()[d.before].queue != graph.tasks()[id].queue)
        ready = std::max(ready, trace.rank.timeline.end_of(d.before));
    }
    const Span& span = trace.rank.timeline.spans[id];
    changes[std::min(ready, span.start)] += 1;
    changes[span.end] -= 1;
  }
  if (!changes.empty()) write(trace, changes, "tensors in flight", "messages", 0, 1);
}

/// Shows the memory of the GPU. A layer's result is kept from its last forward kernel to its last backward
/// kernel.
void add_memory(const RankTrace& trace) {
  if (!(trace.rank.lasting_bytes > 0) || trace.rank.work.empty()) return;
  std::map<std::string_view, double> kept;
  for (std::size_t layer = 0; layer < trace.rank.work.size(); ++layer)
    kept[trace.rank.layers[layer]] = trace.rank.work[layer].kept_bytes;
  constexpr std::string_view kForward = "forward ", kBackward = "backward ";
  Changes changes;
  // Ends of a layer's passes in the current step: forward and backward.
  std::map<std::string_view, std::pair<Time, Time>> ends;
  const auto close = [&](std::string_view layer) {
    const auto [made, used] = ends[layer];
    changes[made] += kept[layer], changes[used] -= kept[layer];
    ends.erase(layer);
  };
  const TaskGraph& graph = trace.rank.graph;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const std::string_view name = trace.names[id];
    if (graph.tasks()[id].kind != TaskKind::kernel) continue;
    const Time end = trace.rank.timeline.end_of(id);
    if (name.starts_with(kForward)) {
      const std::string_view layer = name.substr(kForward.size());
      // A further forward pass of the layer begins the next step.
      if (ends.count(layer) > 0 && ends[layer].second > Time::zero()) close(layer);
      ends[layer].first = end;
    } else if (name.starts_with(kBackward) && ends.count(name.substr(kBackward.size())) > 0) {
      ends[name.substr(kBackward.size())].second = end;
    }
  }
  // Layers without a backward pass are dropped at the end.
  while (!ends.empty()) {
    if (ends.begin()->second.second > Time::zero())
      close(ends.begin()->first);
    else
      ends.erase(ends.begin());
  }
  if (!changes.empty()) write(trace, changes, "GPU memory", "MiB", trace.rank.lasting_bytes, 1 << 20);
}

}  // namespace

void add_counters(const RankTrace& trace) {
  add_in_flight(trace);
  add_memory(trace);
}

}  // namespace foretrain
