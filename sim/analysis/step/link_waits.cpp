// Walks the same path as the breakdown does. Each pattern of traffic has one slowest link, which is found
// once and kept, because a step runs the same few patterns many times.
#include "sim/analysis/step/link_waits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/strategy/process/background_traffic.hpp"

namespace foretrain {

namespace {

/// Index of messages that cross no link.
constexpr std::size_t kNoLink = kWaitKinds - 1;

/// The link of a pattern that needs longest: its kind, and the share of its bytes that other jobs send.
struct SlowestLink {
  std::size_t kind = kNoLink;
  double background = 0;
};

/// Adds up the pattern's bytes on every link and returns the link with the longest transfer time.
SlowestLink slowest_link(const std::vector<PatternFlow>& flows, const Cluster& cluster) {
  struct Load {
    double all = 0, others = 0;
  };
  std::map<LinkId, Load> bytes;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) bytes[link].all += flow.weight;
    // Other jobs' flows are recognized as such; their bytes count on their first link.
    if (is_background(flow, cluster)) bytes[flow.route.front()].others += flow.weight;
  }
  double longest = 0;
  SlowestLink slowest;
  for (const auto& [id, load] : bytes) {
    const ClusterLink link = cluster.links()[id];
    const double seconds = load.all / link.bandwidth.per_second;
    // The first link by number is kept among those with equal times.
    if (seconds <= longest) continue;
    longest = seconds, slowest = {static_cast<std::size_t>(link.kind), load.others / load.all};
  }
  return slowest;
}

/// Sums the waits of a path by kind of link.
class Waits {
 public:
  Waits(const TaskGraph& graph, const Cluster& cluster)
      : graph_(graph), cluster_(cluster), links_(graph.pattern_count()) {}

  /// Divides the time of one piece between the training's own bytes and other jobs' on the slowest link.
  void add(TaskId id, Time spent) {
    const Task& task = graph_.tasks()[id];
    if (static_cast<Account>(task.account) != Account::exposed_communication) return;
    const SlowestLink slowest = slowest_of(task);
    const Time others = seconds(to_seconds(spent) * slowest.background);
    spent_[slowest.kind] += spent - others;
    spent_[kBackgroundWait] += others;
  }

  LinkWaits per_step(int steps) const {
    LinkWaits out{};
    for (std::size_t i = 0; i < kWaitKinds; ++i) out[i] = to_seconds(spent_[i]) / steps;
    return out;
  }

 private:
  SlowestLink slowest_of(const Task& task) {
    if (task.pattern == kNone) return {};
    std::optional<SlowestLink>& known = links_[task.pattern];
    if (!known) known = slowest_link(graph_.pattern(task.pattern), cluster_);
    return *known;
  }

  const TaskGraph& graph_;
  const Cluster& cluster_;
  /// Slowest links by pattern, found at the first use.
  std::vector<std::optional<SlowestLink>> links_;
  std::array<Time, kWaitKinds> spent_{};
};

/// Returns the first link of the kind in the cluster, nullptr if there is none. The pointer is the cluster's.
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
  if (kind == kBackgroundWait) return "other jobs on the network between switches";
  return "exposed communication over " + name_of_link(kind, cluster);
}

std::string name_of_link(std::size_t kind, const ClusterSpec& cluster) {
  static constexpr std::array<std::string_view, kBackgroundWait> kNames{"PCIe", "NVLink", "the socket link",
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
