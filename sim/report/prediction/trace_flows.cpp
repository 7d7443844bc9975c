// Draws arrows from gradients to collectives. A gradient is complete with its layer's backward kernel. From
// there the stream copies it into a bucket, unless it lies in one already. The collective that waits for the
// stream carries every gradient since the collective before.
#include <algorithm>
#include <array>
#include <set>

#include "sim/report/prediction/trace_events.hpp"

namespace foretrain {

namespace {

// Names of the kernels that copy gradients, by strategy.
constexpr std::array<std::string_view, 5> kCopies{"gradient to bucket", "copy into fusion buffer",
                                                  "concatenation of gradients", "divide and pack gradients",
                                                  "compress gradient"};

// Finds the gradients of every collective.
class GradientFlows {
 public:
  explicit GradientFlows(const RankTrace& trace) : trace_(trace), graph_(trace.rank.graph) {
    // The graph only links to the next task of a queue, so the one before is stored here.
    before_.resize(graph_.tasks().size(), kNone);
    for (TaskId id = 0; id < graph_.tasks().size(); ++id) {
      if (const TaskId next = graph_.next_on_queue(id); next != kNone) before_[next] = id;
    }
  }

  void add() {
    for (TaskId id = 0; id < graph_.tasks().size(); ++id) {
      if (graph_.tasks()[id].kind == TaskKind::collective && trace_.shows(id)) add_those_of(id);
    }
  }

 private:
  /// Returns true for a kernel that copies gradients.
  bool is_copy(TaskId id) const {
    return std::ranges::find(kCopies, std::string_view(trace_.names[id])) != kCopies.end();
  }
  bool is_backward(TaskId id) const { return trace_.names[id].starts_with("backward "); }

  /// Returns the last task of another stream that the collective waits for.
  TaskId input_of(TaskId collective) const {
    TaskId last = kNone;
    for (const Dependency& d : graph_.dependencies(collective)) {
      const Task& before = graph_.tasks()[d.before];
      if (before.kind == TaskKind::host || before.queue == graph_.tasks()[collective].queue) continue;
      if (last == kNone || d.before > last) last = d.before;
    }
    return last;
  }

  /// Walks back along the stream, to the tasks that an earlier collective has taken, and adds an arrow for
  /// each gradient.
  void add_those_of(TaskId collective) {
    std::vector<TaskId> copies;
    bool is_found = false;
    for (TaskId id = input_of(collective); id != kNone && seen_.insert(id).second; id = before_[id]) {
      if (is_copy(id)) copies.push_back(id);
      if (!is_backward(id)) continue;
      for (const TaskId copy : copies) add_flow(id, copy, collective), is_found = true;
      // Without a copy only the last backward kernel gets an arrow.
      if (copies.empty() && !is_found) add_flow(id, kNone, collective), is_found = true;
      copies.clear();
    }
  }

  /// Returns the middle of a span, where an arrow is attached.
  Time middle_of(TaskId id) const {
    const Span& span = trace_.rank.timeline.spans[id];
    return span.start + (span.end - span.start) / 2;
  }

  void stop(char phase, std::size_t flow, TaskId id, Time at) const {
    trace_.events.flow(phase, flow, trace_.process, trace_.thread_of(id), "gradient", at);
  }

  /// Adds one arrow, unless a part of it is outside of the shown time or it would run backwards.
  void add_flow(TaskId gradient, TaskId copy, TaskId collective) const {
    const Time begin = middle_of(gradient), end = trace_.rank.timeline.spans[collective].start;
    const bool is_copied = copy != kNone && trace_.shows(copy);
    // An arrow is only drawn when both of its ends are visible.
    if (!trace_.shows(gradient) || begin < trace_.from || end < begin) return;
    if (is_copied && (middle_of(copy) < begin || end < middle_of(copy))) return;
    const std::size_t flow = trace_.events.new_flow();
    stop('s', flow, gradient, begin);
    if (is_copied) stop('t', flow, copy, middle_of(copy));
    stop('f', flow, collective, end);
  }

  const RankTrace& trace_;
  const TaskGraph& graph_;
  // Task before each task on the same queue.
  std::vector<TaskId> before_;
  std::set<TaskId> seen_;
};

}  // namespace

void add_flows(const RankTrace& trace) { GradientFlows(trace).add(); }

}  // namespace foretrain
