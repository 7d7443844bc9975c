// The same walk as the breakdown's, with labels in place of accounts. Tasks of one label are told apart by account where the label says
// less: a layer's kernels are compute, whatever the layer is called.
#include "sim/analysis/step_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_set>

#include "sim/engine/path_walk.hpp"

namespace foretrain {

namespace {

constexpr std::string_view kLayers = "forward and backward kernels", kHost = "Python and launches";
constexpr std::array<std::string_view, kAccountCount> kUnlabelled{kLayers, "communication", "input batch", kHost, "optimizer", "copies"};

/// "all_reduce bucket 12" and "all_reduce bucket 3" are one kind; so are an "all_reduce bucket" and an "all_reduce message" of two
/// strategies, which carry the same gradients.
std::string_view kind_of(std::string_view label) {
  constexpr std::string_view kSum = "all_reduce";
  if (label.starts_with(kSum)) return kSum;
  const std::size_t word = label.find_last_not_of("0123456789");
  if (word == std::string_view::npos || word + 1 == label.size() || label[word] != ' ') return label;
  return label.substr(0, word);
}

class Parts {
 public:
  Parts(const TaskGraph& graph, const std::vector<std::string>& layers) : graph_(graph), layers_(layers.begin(), layers.end()) {}

  void add(TaskId task, Time spent, Time lag) {
    by_kind_[key_of(graph_.tasks()[task])] += spent;
    waits_ += lag;
  }

  std::vector<StepPart> named(int steps) const {
    std::map<std::string_view, double> sums;
    for (const auto& [key, time] : by_kind_) sums[name_of(key)] += to_seconds(time) / steps;
    sums[kHost] += to_seconds(waits_) / steps;
    std::vector<StepPart> out;
    for (const auto& [name, seconds] : sums) {
      if (seconds > 0) out.push_back({std::string(name), seconds});
    }
    std::stable_sort(out.begin(), out.end(), [](const StepPart& a, const StepPart& b) { return a.seconds > b.seconds; });
    return out;
  }

 private:
  using Key = std::pair<LabelId, std::uint8_t>;

  static Key key_of(const Task& task) { return {task.label, task.account}; }

  std::string_view name_of(Key key) const {
    const auto [label, account] = key;
    if (label == kNone) return kUnlabelled[account];
    const std::string_view text = graph_.label_text(label);
    if (layers_.count(text) > 0) return kLayers;
    return kind_of(text);
  }

  const TaskGraph& graph_;
  std::unordered_set<std::string_view> layers_;
  std::map<Key, Time> by_kind_;
  Time waits_{};
};

}  // namespace

std::vector<StepPart> step_parts(const Plan& plan, const Timeline& timeline, const std::vector<std::string>& layers, TaskId before,
                                 TaskId last, int steps) {
  Parts parts(plan.graph, layers);
  walk_queue(plan.graph, timeline, plan.graph.tasks()[last].queue, timeline.end_of(before), timeline.end_of(last),
             [&parts](TaskId task, Time spent, Time lag) { parts.add(task, spent, lag); });
  return parts.named(steps);
}

std::vector<StepPart> difference(const std::vector<StepPart>& parts, const std::vector<StepPart>& others) {
  std::vector<StepPart> out = parts;
  for (const StepPart& other : others) {
    const auto found = std::find_if(out.begin(), out.end(), [&](const StepPart& part) { return part.name == other.name; });
    if (found == out.end())
      out.push_back({other.name, -other.seconds});
    else
      found->seconds -= other.seconds;
  }
  std::stable_sort(out.begin(), out.end(), [](const StepPart& a, const StepPart& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  return out;
}

}  // namespace foretrain
