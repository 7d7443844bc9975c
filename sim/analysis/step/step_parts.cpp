// Walks the same path as the breakdown does, with labels in place of accounts. Tasks without a label are told
// apart by account. Layers are one part, whatever their names are.
#include "sim/analysis/step/step_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_set>

namespace foretrain {

namespace {

/// Names of work without a label, by account.
constexpr std::string_view kLayers = "forward and backward kernels", kHost = "Python and launches";
constexpr std::array<std::string_view, kAccountCount> kUnlabelled{kLayers, "communication", "input batch",
                                                                  kHost,   "optimizer",     "copies"};

/// Returns the label without its number: "all_reduce bucket 12" and "all_reduce bucket 3" are one kind. An
/// "all_reduce bucket" and an "all_reduce message" of two strategies are one kind, too, because they carry
/// the same gradients.
std::string_view kind_of(std::string_view label) {
  constexpr std::string_view kSum = "all_reduce";
  if (label.starts_with(kSum)) return kSum;
  const std::size_t word = label.find_last_not_of("0123456789");
  if (word == std::string_view::npos || word + 1 == label.size() || label[word] != ' ') return label;
  return label.substr(0, word);
}

/// Sums the pieces of a path by label and account.
class Parts {
 public:
  Parts(const TaskGraph& graph, const std::vector<std::string>& layers)
      : graph_(graph),
        layers_(layers.begin(), layers.end()),
        by_kind_((graph.label_count() + 1) * kAccountCount) {}

  void add(TaskId id, Time spent, Time lag) {
    const Task& task = graph_.tasks()[id];
    const std::size_t label = task.label == kNone ? graph_.label_count() : task.label;
    by_kind_[label * kAccountCount + task.account] += spent;
    waits_ += lag;
  }

  /// Lags, which are waits for launches and wake-ups, count as the host's time.
  std::vector<StepPart> named(int steps) const {
    std::map<std::string_view, double> sums;
    for (std::size_t kind = 0; kind < by_kind_.size(); ++kind) {
      if (by_kind_[kind] != Time::zero()) sums[name_of(kind)] += to_seconds(by_kind_[kind]) / steps;
    }
    sums[kHost] += to_seconds(waits_) / steps;
    std::vector<StepPart> out;
    for (const auto& [name, seconds] : sums) {
      if (seconds > 0) out.push_back({std::string(name), seconds});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const StepPart& a, const StepPart& b) { return a.seconds > b.seconds; });
    return out;
  }

 private:
  std::string_view name_of(std::size_t kind) const {
    const std::size_t label = kind / kAccountCount;
    if (label == graph_.label_count()) return kUnlabelled[kind % kAccountCount];
    const std::string_view text = graph_.label_text(static_cast<LabelId>(label));
    if (layers_.count(text) > 0) return kLayers;
    return kind_of(text);
  }

  const TaskGraph& graph_;
  std::unordered_set<std::string_view> layers_;
  /// Time by label and account; tasks without a label come last.
  std::vector<Time> by_kind_;
  Time waits_{};
};

}  // namespace

std::vector<StepPart> step_parts(const TaskGraph& graph, const std::vector<PathPiece>& path,
                                 const std::vector<std::string>& layers, int steps) {
  Parts parts(graph, layers);
  for (const auto& [task, spent, lag] : path) parts.add(task, spent, lag);
  return parts.named(steps);
}

std::vector<StepPart> difference(const std::vector<StepPart>& parts, const std::vector<StepPart>& others) {
  std::vector<StepPart> out = parts;
  for (const StepPart& other : others) {
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const StepPart& part) { return part.name == other.name; });
    if (found == out.end())
      out.push_back({other.name, -other.seconds});
    else
      found->seconds -= other.seconds;
  }
  std::erase_if(out, [](const StepPart& part) { return std::abs(part.seconds) < kShortestTime; });
  std::stable_sort(out.begin(), out.end(), [](const StepPart& a, const StepPart& b) {
    return std::abs(a.seconds) > std::abs(b.seconds);
  });
  return out;
}

}  // namespace foretrain
