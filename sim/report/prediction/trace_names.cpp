// The graph says what follows from what: a host task is named after the first task that it starts, a kernel's
// pass is told by the thread that launched it.
#include "sim/report/prediction/trace_names.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace foretrain {

namespace {

constexpr std::string_view kForward = "main thread", kBackward = "autograd thread";

class TraceNames {
 public:
  TraceNames(const TaskGraph& graph, const std::vector<std::string>& layers)
      : graph_(graph), layers_(layers.begin(), layers.end()) {
    starts_.resize(graph.tasks().size(), kNone);
    started_by_.resize(graph.tasks().size(), kNone);
    for (TaskId id = 0; id < graph.tasks().size(); ++id) note_starter(id);
  }

  std::string of(TaskId id) const {
    const Task& task = graph_.tasks()[id];
    if (task.label != kNone) return labelled(id);
    if (task.kind != TaskKind::host) return std::string(name_of(task.kind));
    if (starts_[id] != kNone) return "launch " + of(starts_[id]);
    return host_work(id);
  }

 private:
  const std::string& queue_of(TaskId id) const { return graph_.queues()[graph_.tasks()[id].queue].name; }
  bool is_host(TaskId id) const { return graph_.tasks()[id].kind == TaskKind::host; }

  void note_starter(TaskId id) {
    if (is_host(id)) return;
    for (const Dependency& d : graph_.dependencies(id)) {
      if (!is_host(d.before) || starts_[d.before] != kNone) continue;
      starts_[d.before] = id;
      started_by_[id] = d.before;
    }
  }

  std::string labelled(TaskId id) const {
    const std::string label(graph_.label_text(graph_.tasks()[id].label));
    if (label == "optimizer") return "optimizer.step";
    const TaskId starter = is_host(id) ? id : started_by_[id];
    if (layers_.count(label) == 0 || starter == kNone) return label;
    if (queue_of(starter).starts_with(kBackward)) return "backward " + label;
    return queue_of(starter).starts_with(kForward) ? "forward " + label : label;
  }

  /// Of a thread that launches nothing: the pipeline by its threads, the script by what it waited for.
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
  std::vector<TaskId> starts_, started_by_;  ///< by host task, by what it starts
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
