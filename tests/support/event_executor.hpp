// The plain twin of the executor for any graph: every task by events, taken from an unsorted list, with no
// flow folded and nothing timed early.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <vector>

#include "sim/engine/network.hpp"
#include "sim/engine/shared_device.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain::test {

class EventExecutor {
 public:
  EventExecutor(const TaskGraph& graph, Network& network)
      : graph_(graph), network_(network), devices_(graph.devices().size()) {
    for (const Pool& pool : graph.pools()) lines_.push_back({pool.capacity, {}});
    timeline_.spans.resize(graph.tasks().size());
    ended_.resize(graph.tasks().size()), flows_.resize(graph.tasks().size()),
        released_.resize(graph.tasks().size());
  }

  Timeline run() {
    release_all();
    while (std::ranges::count(ended_, false) > 0) {
      const Time flows_end = network_.next_end();
      const Time now = events_.empty()
                           ? flows_end
                           : std::min(flows_end, std::get<Time>(*std::ranges::min_element(events_)));
      if (flows_end == now) end_flows(now);
      while (!events_.empty() && std::get<Time>(*std::ranges::min_element(events_)) == now) handle_first(now);
    }
    return timeline_;
  }

 private:
  enum class Kind : std::uint8_t { end, transfer, ready };
  struct Line {
    std::uint32_t free = 0;
    std::deque<TaskId> waiting;
  };
  const Task& task(TaskId id) const { return graph_.tasks()[id]; }
  bool takes_share(TaskId id) const { return task(id).device != kNone && task(id).device_share > 0; }
  bool is_stretched(TaskId id) const {
    return task(id).kind == TaskKind::kernel && task(id).device != kNone && !takes_share(id);
  }

  /// Every task whose dependencies have all ended.
  void release_all() {
    for (TaskId id = 0; id < graph_.tasks().size(); ++id) {
      const auto needs = graph_.dependencies(id);
      if (released_[id] ||
          !std::ranges::all_of(needs, [&](const Dependency& need) { return ended_[need.before]; }))
        continue;
      released_[id] = true;
      Span& span = timeline_.spans[id];
      for (const Dependency& need : needs) {
        const Time end = timeline_.end_of(need.before), at = later(end, need.lag);
        if (span.released_by == kNone || at > span.start) span = {at, {}, need.before, at - end};
      }
      events_.emplace_back(span.start, Kind::ready, id);
    }
  }

  void handle_first(Time now) {
    const auto first = std::ranges::min_element(events_);
    const auto [time, kind, id] = *first;
    events_.erase(first);
    if (kind == Kind::ready) return request(id, now);
    if (kind == Kind::transfer) return transfer(id, now);
    if (is_stretched(id) && !devices_[task(id).device].ended(id, now)) return;
    task(id).pattern != kNone ? transfer(id, now) : finish(id, now);
  }

  void request(TaskId id, Time now) {
    const PoolId pool = task(id).pool;
    if (pool != kNone && lines_[pool].free == 0) return lines_[pool].waiting.push_back(id);
    if (pool != kNone) --lines_[pool].free;
    start(id, now);
  }

  void start(TaskId id, Time now) {
    timeline_.spans[id].start = now;
    take(id, task(id).device_share, now);
    if (is_stretched(id))
      return events_.emplace_back(devices_[task(id).device].begin(id, task(id).duration, now), Kind::end, id),
             void();
    events_.emplace_back(later(now, task(id).duration),
                         task(id).pattern == kNone ? Kind::end : Kind::transfer, id);
  }

  void take(TaskId id, double share, Time now) {
    if (!takes_share(id)) return;
    SharedDevice& device = devices_[task(id).device];
    device.take(share, now);
    for (const SharedDevice::Running& kernel : device.running())
      events_.emplace_back(kernel.end, Kind::end, kernel.task);
  }

  void transfer(TaskId id, Time now) {
    for (const PatternFlow& flow : graph_.pattern(task(id).pattern)) {
      const Bytes bytes{std::llround(static_cast<double>(task(id).traffic.count) * flow.weight)};
      if (bytes.count <= 0) continue;
      std::vector<LinkShare>& route = routes_.emplace_back();
      for (const LinkId link : flow.route) route.push_back({link, 1});
      ++flows_[id];
      network_.start(new_flow(id), route, bytes, now);
    }
    if (flows_[id] == 0) finish(id, now);
  }

  /// Ends of one moment come by the flow's number, so numbers are given as the executor gives them: the last
  /// one that came free.
  FlowId new_flow(TaskId id) {
    if (idle_.empty()) return task_of_flow_.push_back(id), static_cast<FlowId>(task_of_flow_.size() - 1);
    const FlowId flow = idle_.back();
    idle_.pop_back();
    return task_of_flow_[flow] = id, flow;
  }

  void end_flows(Time now) {
    std::vector<FlowId> over;
    network_.advance(now, over);
    for (const FlowId flow : over) {
      idle_.push_back(flow);
      if (--flows_[task_of_flow_[flow]] == 0) finish(task_of_flow_[flow], now);
    }
  }

  void finish(TaskId id, Time now) {
    timeline_.spans[id].end = now;
    ended_[id] = true;
    take(id, -task(id).device_share, now);
    if (task(id).pool != kNone) give_back(id, now);
    release_all();
  }

  void give_back(TaskId id, Time now) {
    Line& line = lines_[task(id).pool];
    if (line.waiting.empty()) {
      ++line.free;
      return;
    }
    const TaskId next = line.waiting.front();
    line.waiting.pop_front();
    timeline_.spans[next].released_by = id, timeline_.spans[next].lag = Time::zero();
    start(next, now);
  }

  const TaskGraph& graph_;
  Network& network_;
  std::vector<SharedDevice> devices_;
  std::vector<Line> lines_;
  Timeline timeline_;
  std::vector<bool> ended_, released_;
  std::vector<int> flows_;
  std::vector<std::tuple<Time, Kind, TaskId>> events_;
  std::vector<TaskId> task_of_flow_;
  std::vector<FlowId> idle_;
  std::deque<std::vector<LinkShare>> routes_;
};

}  // namespace foretrain::test
