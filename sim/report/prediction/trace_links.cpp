// Shows transfers on links. A transfer uses a link from the end of its latency to its own end, at its mean
// rate. When several share a link, one span has the names of all of them.
//
// The counter "use" is the share of a link's bandwidth that all transfers on it need together, at most 100 %.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

// The traffic of one task on a link, with the time in which it flows.
struct Load {
  TaskId task;
  Time start, end;
  double bytes = 0;
};

/// Returns the loads of all links that are shown. Flows of a task over the same link are summed by their
/// weights.
std::map<LinkId, std::vector<Load>> loads_of(const RankTrace& trace) {
  const TaskGraph& graph = trace.rank.graph;
  std::set<LinkId> wanted;
  for (const RecordedLink& link : trace.rank.links) wanted.insert(link.id);
  std::map<LinkId, std::vector<Load>> out;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.pattern == kNone || !trace.shows(id)) continue;
    const Span& span = trace.rank.timeline.spans[id];
    const Time start = std::min(span.start + task.duration, span.end);
    std::map<LinkId, double> weights;
    for (const PatternFlow& flow : graph.pattern(task.pattern)) {
      for (const LinkId link : flow.route) {
        if (wanted.count(link) > 0) weights[link] += flow.weight;
      }
    }
    for (const auto& [link, weight] : weights) {
      if (span.end > start && weight > 0)
        out[link].push_back({id, start, span.end, weight * static_cast<double>(task.traffic.count)});
    }
  }
  return out;
}

// Writes the track of one link.
class LinkLane {
 public:
  LinkLane(const RankTrace& trace, int process, std::size_t thread, const RecordedLink& link)
      : trace_(trace), process_(process), thread_(thread), link_(link) {}

  /// Cuts time at every start and end of a transfer, and writes one piece for each interval.
  void write(std::vector<Load> loads) const {
    std::set<Time> moments;
    for (const Load& load : loads) moments.insert(load.start), moments.insert(load.end);
    std::ranges::stable_sort(loads, {}, &Load::start);
    const std::string name = "use of " + link_.name;
    trace_.events.thread_name(process_, thread_, link_.name);
    std::vector<Load> active;
    std::size_t begun = 0;
    for (auto at = moments.begin(); at != moments.end(); ++at) {
      // Transfers that have begun are added, and those that have ended are removed.
      while (begun < loads.size() && loads[begun].start <= *at) active.push_back(loads[begun++]);
      std::erase_if(active, [&](const Load& load) { return load.end <= *at; });
      const double use = active.empty() ? 0 : piece(active, *at, *std::next(at));
      trace_.events.counter(process_, name, *at, "%", use);
    }
  }

 private:
  /// Adds the piece from `start` to `end`, and returns the use of the link in percent.
  double piece(const std::vector<Load>& active, Time start, Time end) const {
    std::string name;
    double rate = 0;
    for (const Load& load : active) {
      rate += load.bytes / to_seconds(load.end - load.start);
      name += (name.empty() ? "" : " + ") + trace_.names[load.task];
    }
    const double bytes = rate * to_seconds(end - start);
    const double use = std::min(100.0, 100 * rate / std::max(1.0, link_.bandwidth.per_second));
    trace_.events.span(
        process_, thread_, name, "link", start, end,
        {{"bytes", fmt::format("{:.0f}", bytes)}, {"use_percent", fmt::format("{:.3f}", use)}});
    return use;
  }

  const RankTrace& trace_;
  int process_;
  std::size_t thread_;
  const RecordedLink& link_;
};

}  // namespace

// Links without traffic get no track.
void add_links(const RankTrace& trace, int process) {
  const std::map<LinkId, std::vector<Load>> loads = loads_of(trace);
  std::size_t thread = 0;
  for (const RecordedLink& link : trace.rank.links) {
    const auto found = loads.find(link.id);
    if (found == loads.end()) continue;
    LinkLane(trace, process, ++thread, link).write(found->second);
  }
}

}  // namespace foretrain
