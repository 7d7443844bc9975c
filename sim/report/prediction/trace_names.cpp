// Names the tasks of a trace. The graph contains what follows from what: a host task is named after the first
// task that it starts, and the pass of a kernel follows from the thread that launched it.
#include "sim/report/prediction/trace_names.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace foretrain {

namespace {

// First words of the names of the threads that launch forward and backward kernels.
constexpr std::string_view kForward = "main thread", kBackward = "autograd thread";

// Computes the names of one graph.
class TraceNames {
 public:
  TraceNames(const TaskGraph& graph, const std::vector<std::string>& layers)
      : graph_(graph), layers_(layers.begin(), layers.end()) {
    starts_.resize(graph.tasks().size(), kNone);
    started_by_.resize(graph.tasks().size(), kNone);
    for (TaskId id = 0; id < graph.tasks().size(); ++id) note_starter(id);
  }

  /// Returns the name of a task.
  std::string of(TaskId id) const {
    const Task& task = graph_.tasks()[id];
    if (task.label != kNone) return labelled(id);
    if (task.kind != TaskKind::host) return std::string(name_of(task.kind));
    if (starts_[id] != kNone) return "launch " + of(starts_[id]);
    return host_work(id);
  }

 private:
  /// Return the name of a task's queue, and whether the task runs on the host.
  const std::string& queue_of(TaskId id) const { return graph_.queues()[graph_.tasks()[id].queue].name; }
  bool is_host(TaskId id) const { return graph_.tasks()[id].kind == TaskKind::host; }

  /// Stores which host task starts this one: the first host task that it depends on and that starts nothing
  /// else.
  void note_starter(TaskId id) {
    if (is_host(id)) return;
    for (const Dependency& d : graph_.dependencies(id)) {
      if (!is_host(d.before) || starts_[d.before] != kNone) continue;
      starts_[d.before] = id;
      started_by_[id] = d.before;
    }
  }

  /// Returns the name of a task with a label. For a layer, the pass is added.
  std::string labelled(TaskId id) const {
    const std::string label(graph_.label_text(graph_.tasks()[id].label));
    if (label == "optimizer") return "optimizer.step";
    const TaskId starter = is_host(id) ? id : started_by_[id];
    if (layers_.count(label) == 0 || starter == kNone) return label;
    if (queue_of(starter).starts_with(kBackward)) return "backward " + label;
    return queue_of(starter).starts_with(kForward) ? "forward " + label : label;
  }

  /// Returns the name of host work that launches nothing: work of loader threads by their queue, and waits of
  /// the script by what they wait for.
  std::string host_work(TaskId id) const {
    const std::string& queue = queue_of(id);
    if (queue.starts_with("loader")) return "load and decode a batch";
    if (queue.starts_with("pin-memory")) return "pin a batch";
    for (const Dependency& d : graph_.dependencies(id)) {
      const std::string& before = queue_of(d.before);
      if (before.starts_with("loader") || before.starts_with("pin-memory")) return "next(loader)";
    }
    return "Python";
  }

  const TaskGraph& graph_;
  std::set<std::string, std::less<>> layers_;
  // The task that each host task starts, and the host task that starts each task.
  std::vector<TaskId> starts_, started_by_;
};

}  // namespace

std::string_view name_of(TaskKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"host", "kernel", "copy", "collective", "wait"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string> trace_names(const TaskGraph& graph, const std::vector<std::string>& layers) {
  const TraceNames names(graph, layers);
  std::vector<std::string> out;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) out.push_back(names.of(id));
  return out;
}

}  // namespace foretrain
