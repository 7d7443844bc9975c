// The ranks of a job as NCCL sees them: which rings they form, and what a collective over them costs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/channels.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// How one collective will run.
struct CollectivePlan {
  CollectiveOp op = CollectiveOp::all_reduce;
  Protocol protocol = Protocol::simple;
  Time latency{};    ///< before the data flows
  Time alone{};      ///< latency and data on an idle machine
  int channels = 0;  ///< thread blocks, one SM each
  std::string why;   ///< the protocols that lost, for Decisions
};

/// Rings of a job and their costs. Size of a collective: the message as nccl-tests prints it (reduce_scatter, all_gather: all ranks'
/// parts together). Root of broadcast and reduce: rank 0.
class Communicator {
 public:
  /// Requires the ranks' nodes to be part of the cluster.
  Communicator(const Cluster& cluster, const Placement& placement);

  /// Takes the protocol with the smallest `alone`. One rank: nothing to do, in no time. Latency: base + steps x latency per step, network
  /// steps apart (NCCL src/graph/tuning.cc); alone = latency + size x the largest (weights on a link / its bandwidth).
  CollectivePlan plan(CollectiveOp op, Bytes size) const;
  /// The same with a given protocol; requires is_available.
  CollectivePlan plan(CollectiveOp op, Bytes size, Protocol protocol) const;
  /// LL128 needs NVLink between all GPUs of a node that are neighbours in a ring, NICs on the PCIe switch of their GPU, and Volta or later.
  bool is_available(Protocol protocol) const { return protocol != Protocol::ll128 || ll128_; }

  /// The traffic per byte of message: one flow per distinct route, its weight the sum over channels of share x bytes per ring edge /
  /// (efficiency of the protocol x collective efficiency of the route).
  std::vector<PatternFlow> flows(CollectiveOp op, Protocol protocol) const;

  int size() const { return ranks_; }
  int nodes() const { return nodes_; }
  const Rings& rings() const { return rings_; }

 private:
  /// All channels' traffic from one rank to its neighbour over one route.
  struct Edge {
    int from, to;
    int rail;      ///< -1 inside a node
    double share;  ///< of the ring traffic, divided by the route's collective efficiency
    std::vector<LinkId> route;
  };
  enum Idle : std::uint8_t { none, into_root, out_of_root };

  void collect_edges(const Cluster& cluster, const Placement& placement);
  void route_edge(const Cluster& cluster, const Placement& placement, Edge& edge);
  static Idle idle_edge(CollectiveOp op);
  static bool is_idle(const Edge& edge, Idle idle);
  double slowest_link(const Cluster& cluster, Idle idle) const;
  double efficiency(Protocol protocol) const;
  double seconds_per_byte(CollectiveOp op, Protocol protocol) const;
  Time latency(CollectiveOp op, Protocol protocol) const;
  std::string reason(const CollectivePlan& best, Bytes size) const;

  int ranks_ = 1;
  int nodes_ = 1;
  Rings rings_;
  std::vector<Edge> edges_;
  bool nvlink_ = true;  ///< every ring edge inside a node is NVLink
  bool ll128_ = false;
  ProtocolSetting setting_;
  std::array<double, 3> slowest_{};  ///< seconds per byte on the ring edges, by Idle
};

}  // namespace foretrain
