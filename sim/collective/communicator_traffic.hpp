// Where the bytes of a job's collectives go: the edges of every pattern on the channels NCCL found, and what
// they ask of the links.
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

// Which nodes of a job put the same load on their own links, so that one of them stands for all.

/// The classes of nodes that are alike for a job's traffic, so that one node of each class stands for all.
struct NodeClasses {
  std::vector<int> of_node;                ///< by node of the cluster; -1: not in the job
  std::vector<std::vector<int>> of_shape;  ///< by NodeShape of the job: the classes of its nodes
};

/// Rings, alltoall: nodes of one shape do the same.
NodeClasses classes_by_shape(const nccl::Job& job, int cluster_nodes);
/// Trees over nodes: those of one shape that have the same place in both trees; a root has fewer neighbours
/// than others.
NodeClasses classes_by_tree(const nccl::Job& job, int cluster_nodes);
/// Traffic of a rank with its neighbour or a root: every node is a class of its own; `of_shape` is empty.
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

/// What decides which links a message loads: the pattern of traffic and, between peers, the operation. Equal
/// keys share one set of loads.
struct TrafficKey {
  TrafficPattern pattern = TrafficPattern::ring;
  CollectiveOp op = CollectiveOp::all_reduce;  ///< of peers; otherwise all_reduce
  auto operator<=>(const TrafficKey&) const = default;
};

/// Most that LL gets out of a NIC. Its lines stand in host memory, where the proxy of a rank looks at every
/// one for its flags (src/transport/net.cc): as fast as one thread of that host is. Grace hosts, which share
/// their memory with the GPU, keep the figure of the older hosts, since Alps' rows show no more.
ByteRate low_latency_limit(const CollectiveCosts& costs, const Host& host);

/// `algorithm` none: sends and receives.
TrafficKey traffic_of(CollectiveOp op, std::optional<nccl::Algorithm> algorithm);

/// Bytes on an edge of the pattern per byte of message.
double edge_bytes(CollectiveOp op, TrafficPattern pattern, int ranks);

/// What limits the edges of a pattern, per byte on an edge: inside nodes and between them.
struct EdgeBottlenecks {
  Bottleneck inside, between;
  double between_alone = 0;  ///< the slowest route between nodes with nothing else on its links
  Bottleneck of_links;       ///< between nodes, if NICs had no limit of their own
  Bottleneck staging{};      ///< inside, of what GPUs write to host memory or read from there
  /// Traffic between nodes takes so much longer than the links alone would need.
  double nic_stretch() const {
    return of_links.seconds_per_byte > 0 ? between.seconds_per_byte / of_links.seconds_per_byte : 1;
  }
  const Bottleneck& worst() const {
    return inside.seconds_per_byte < between.seconds_per_byte ? between : inside;
  }
};

/// Loads are counted once per pattern, when first asked for.
class CommunicatorTraffic {
 public:
  /// Requires that all outlive this. `by_host`: of a job on NVLink domains of several nodes the same job with
  /// every node by itself, which is how sends and receives are told; else null.
  CommunicatorTraffic(const Cluster& cluster, const nccl::Job& job, const CollectiveCosts& costs,
                      const nccl::Job* by_host = nullptr);

  void visit(TrafficKey key, const EdgeVisitor& visitor) const;
  Route route(const TrafficEdge& edge) const;
  const EdgeBottlenecks& bottlenecks(TrafficKey key, Protocol protocol) const;
  /// Those the whole job's traffic crosses, each once.
  const std::vector<LinkId>& links_between_switches(TrafficKey key) const;
  LinkLoads::Efficiency efficiency(Protocol protocol, bool peers) const;

  /// Whether ring neighbours of a node are joined by NVLink.
  bool nvlink() const { return nvlink_; }
  /// Whether some edge of the ring goes through host memory.
  bool staged() const { return staged_; }
  /// Messages that the busiest rank's proxy sends and takes in a step of the ring, per channel that runs.
  double proxy_share() const { return proxy_share_; }
  /// What a relay to another GPU's NIC adds to a message between nodes, of rings and of sends: a line's way
  /// over NVLink.
  Time ring_relay() const { return ring_relays_ ? of(costs_.ring_step, Protocol::ll) : Time::zero(); }
  Time send_relay() const { return nics_.relays() ? of(costs_.ring_step, Protocol::ll) : Time::zero(); }
  /// On the fullest node, as NCCL counts them.
  int ranks_per_node() const { return ranks_per_node_; }
  /// On the fullest machine: more than on a node where every rank is one.
  int ranks_per_machine() const { return ranks_per_machine_; }
  /// By NodeShape of the job: the search's paths, equal ones in one.
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
  double nic_share_ = 1;        ///< of a ring's channels, those of the busiest NIC
  double threads_per_nic_ = 1;  ///< of the ring's proxies, as if they sent equal parts
  mutable std::map<std::pair<TrafficKey, Protocol>, EdgeBottlenecks> bottlenecks_;
  mutable std::map<TrafficKey, std::vector<LinkId>> between_switches_;  ///< filled with bottlenecks_
};

}  // namespace foretrain
