// The same path as the breakdown's; each pattern of traffic has one slowest link.
#include "sim/analysis/step/link_waits.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace foretrain {

namespace {

constexpr std::size_t kNoLink = kWaitKinds - 1;

std::size_t slowest_kind(const std::vector<PatternFlow>& flows, const Cluster& cluster) {
  std::map<LinkId, double> bytes;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) bytes[link] += flow.weight;
  }
  double longest = 0;
  std::size_t kind = kNoLink;
  for (const auto& [id, share] : bytes) {
    const ClusterLink link = cluster.links()[id];
    const double seconds = share / link.bandwidth.per_second;
    if (seconds <= longest) continue;
    longest = seconds, kind = static_cast<std::size_t>(link.kind);
  }
  return kind;
}

class Waits {
 public:
  Waits(const TaskGraph& graph, const Cluster& cluster)
      : graph_(graph), cluster_(cluster), kinds_(graph.pattern_count(), kUnknown) {}

  void add(TaskId id, Time spent) {
    const Task& task = graph_.tasks()[id];
    if (static_cast<Account>(task.account) == Account::exposed_communication) spent_[kind_of(task)] += spent;
  }

  LinkWaits per_step(int steps) const {
    LinkWaits out{};
    for (std::size_t i = 0; i < kWaitKinds; ++i) out[i] = to_seconds(spent_[i]) / steps;
    return out;
  }

 private:
  static constexpr std::size_t kUnknown = kWaitKinds;

  std::size_t kind_of(const Task& task) {
    if (task.pattern == kNone) return kNoLink;
    std::size_t& kind = kinds_[task.pattern];
    if (kind == kUnknown) kind = slowest_kind(graph_.pattern(task.pattern), cluster_);
    return kind;
  }

  const TaskGraph& graph_;
  const Cluster& cluster_;
  std::vector<std::size_t> kinds_;  ///< by pattern
  std::array<Time, kWaitKinds> spent_{};
};

/// The first of its kind; nullptr when there is none.
const LinkType* type_of(LinkKind kind, const ClusterSpec& cluster) {
  if (kind == LinkKind::network) return &cluster.fabric.link;
  const auto& links = cluster.node.links;
  const auto found = std::find_if(links.begin(), links.end(),
                                  [kind](const NodeLink& link) { return link.type.kind == kind; });
  return found == links.end() ? nullptr : &found->type;
}

}  // namespace

LinkWaits link_waits(const TaskGraph& graph, const std::vector<PathPiece>& path, const Cluster& cluster,
                     int steps) {
  Waits waits(graph, cluster);
  for (const PathPiece& piece : path) waits.add(piece.task, piece.spent);
  return waits.per_step(steps);
}

std::string name_of_wait(std::size_t kind, const ClusterSpec& cluster) {
  if (kind >= kNoLink) return "coordination between ranks";
  return "exposed communication over " + name_of_link(kind, cluster);
}

std::string name_of_link(std::size_t kind, const ClusterSpec& cluster) {
  static constexpr std::array<std::string_view, kNoLink> kNames{"PCIe", "NVLink", "the socket link",
                                                                "the network"};
  const LinkType* type = type_of(static_cast<LinkKind>(kind), cluster);
  return fmt::format("{}{}", kNames[kind],
                     type == nullptr || type->name.empty() ? "" : " (" + type->name + ")");
}

ByteRate link_speed(LinkKind kind, const ClusterSpec& cluster) {
  const LinkType* type = type_of(kind, cluster);
  return type == nullptr ? ByteRate{} : type->bandwidth;
}

}  // namespace foretrain
