// The traffic of a job's collectives: the edges of every pattern on the channels that NCCL found, and the
// load of the links.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/collective/costs.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/collective/nccl_traffic.hpp"
#include "sim/collective/nic_use.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// The classes of nodes whose traffic is alike, so that one node of each class stands for all.
struct NodeClasses {
  /// Class by node of the cluster; -1: not in the job.
  std::vector<int> of_node;
  /// Classes of the nodes of each NodeShape of the job.
  std::vector<std::vector<int>> of_shape;
};

/// Returns the classes for rings and alltoall: nodes of one shape do the same.
NodeClasses classes_by_shape(const nccl::Job& job, int cluster_nodes);
/// Returns the classes for trees over nodes: nodes of one shape with the same place in both trees. A root has
/// fewer neighbours than other nodes.
NodeClasses classes_by_tree(const nccl::Job& job, int cluster_nodes);
/// Returns a class for every node, for traffic of a rank with its neighbour or a root; `of_shape` is empty.
NodeClasses class_per_node(const nccl::Job& job, int cluster_nodes);

/// Kinds of traffic that load the same links.
enum class TrafficPattern : std::uint8_t {
  ring,
  ring_into_root,
  ring_out_of_root,
  tree,
  multicast,
  collnet,
  peers
};

/// The key of a set of link loads: the pattern of traffic and, between peers, the operation.
struct TrafficKey {
  TrafficPattern pattern = TrafficPattern::ring;
  /// The operation between peers; otherwise all_reduce.
  CollectiveOp op = CollectiveOp::all_reduce;
  auto operator<=>(const TrafficKey&) const = default;
};

/// Returns the highest rate that LL reaches on a NIC. Its lines are in host memory, where the proxy of a rank
/// checks the flags of each line (src/transport/net.cc), so the rate is that of one thread of the host. Grace
/// hosts, which share their memory with the GPU, keep the figure of older hosts, because the measured rows of
/// Alps show no more.
ByteRate low_latency_limit(const CollectiveCosts& costs, const Host& host);

/// Returns the key of an operation. `algorithm` none: sends and receives.
TrafficKey traffic_of(CollectiveOp op, std::optional<nccl::Algorithm> algorithm);

/// Returns the bytes on an edge of the pattern per byte of message.
double edge_bytes(CollectiveOp op, TrafficPattern pattern, int ranks);

/// The limits of the edges of a pattern, per byte on an edge, inside nodes and between them.
struct EdgeBottlenecks {
  Bottleneck inside, between;
  /// Seconds per byte of the slowest route between nodes with nothing else on its links.
  double between_alone = 0;
  /// Between nodes, if NICs had no limit of their own.
  Bottleneck of_links;
  /// Inside a node: the limit of what GPUs write to and read from host memory.
  Bottleneck staging{};
  /// Returns the factor by which traffic between nodes takes longer than the links alone would need.
  double nic_stretch() const {
    return of_links.seconds_per_byte > 0 ? between.seconds_per_byte / of_links.seconds_per_byte : 1;
  }
  const Bottleneck& worst() const {
    return inside.seconds_per_byte < between.seconds_per_byte ? between : inside;
  }
};

/// The loads of a job's traffic. Each pattern is counted once, at first use, and then cached; not
/// thread-safe.
class CommunicatorTraffic {
 public:
  /// Requires that all arguments outlive this object. `by_host` is needed for jobs on NVLink domains of
  /// several nodes: the same job with every node by itself, which describes sends and receives. Otherwise it
  /// is nullptr.
  CommunicatorTraffic(const Cluster& cluster, const nccl::Job& job, const CollectiveCosts& costs,
                      const nccl::Job* by_host = nullptr);

  /// Calls `visitor` for every edge of the pattern.
  void visit(TrafficKey key, const EdgeVisitor& visitor) const;
  Route route(const TrafficEdge& edge) const;
  /// Returns the limits of the pattern with a protocol.
  const EdgeBottlenecks& bottlenecks(TrafficKey key, Protocol protocol) const;
  /// Returns the links between switches that the whole job's traffic crosses, each once.
  const std::vector<LinkId>& links_between_switches(TrafficKey key) const;
  /// Returns the share of the links' rates that data reaches with a protocol.
  LinkLoads::Efficiency efficiency(Protocol protocol, bool peers) const;

  /// Returns whether ring neighbours of a node are joined by NVLink.
  bool nvlink() const { return nvlink_; }
  /// Returns whether some edge of the ring goes through host memory.
  bool staged() const { return staged_; }
  /// Returns the messages that the busiest rank's proxy sends and receives in a step of the ring, per channel
  /// that runs.
  double proxy_share() const { return proxy_share_; }
  /// Return the time that a relay to another GPU's NIC adds to a message between nodes, in rings and in
  /// sends: a line's way over NVLink.
  Time ring_relay() const { return ring_relays_ ? of(costs_.ring_step, Protocol::ll) : Time::zero(); }
  Time send_relay() const { return nics_.relays() ? of(costs_.ring_step, Protocol::ll) : Time::zero(); }
  /// Returns the ranks on the fullest node, as NCCL counts nodes.
  int ranks_per_node() const { return ranks_per_node_; }
  /// Returns the ranks on the fullest machine. It is more than on a node if every rank is a node.
  int ranks_per_machine() const { return ranks_per_machine_; }
  /// Returns the paths that the search found, by NodeShape of the job; equal paths are one.
  const std::vector<std::vector<SharedPath>>& paths(nccl::Pattern pattern) const;

 private:
  const Route& inside_route(const TrafficEdge& edge) const;
  std::set<int> first_nodes_of_types() const;
  void find_kinds_of_edges();
  void visit_nodes(TrafficKey key, const EdgeVisitor& visitor) const;
  TrafficEdge between_hosts(TrafficEdge edge) const;
  TrafficEdge by_channel(TrafficEdge edge) const;
  ByteRate socket_limit(bool peers) const;
  std::vector<AlikeLinks> of_staging(std::vector<AlikeLinks> links) const;
  bool is_one_domain() const { return job_.hosts > 1 && job_.nodes.size() == 1; }
  int root_gpu() const;
  LinkLoads loads(TrafficKey key) const;
  NodeClasses classes_of(TrafficKey key) const;
  void add_multicast(LinkLoads& loads, const NodeClasses& classes) const;

  const Cluster& cluster_;
  const nccl::Job& job_;
  const CollectiveCosts& costs_;
  const nccl::Job* by_host_;
  NicUse nics_;
  bool ring_relays_ = false;
  std::vector<std::vector<SharedPath>> ring_paths_, tree_paths_, head_paths_;
  int ranks_per_node_ = 1, ranks_per_machine_ = 1;
  bool nvlink_ = true, staged_ = false;
  double proxy_share_ = 0;
  /// Largest share of a ring's channels on one NIC.
  double nic_share_ = 1;
  /// Proxies of the ring per NIC, as if they sent equal parts.
  double threads_per_nic_ = 1;
  mutable std::map<std::pair<TrafficKey, Protocol>, EdgeBottlenecks> bottlenecks_;
  /// Filled together with bottlenecks_.
  mutable std::map<TrafficKey, std::vector<LinkId>> between_switches_;
};

}  // namespace foretrain
