// A group of ranks with its rings: how long a collective takes and which flows it puts on which links.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/collective/channels.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// How one collective runs.
struct CollectivePlan {
  Protocol protocol = Protocol::simple;
  Time latency{};    ///< base and steps, before and between the data
  Time alone{};      ///< latency plus data on idle links
  int channels = 1;  ///< thread blocks running
  std::string why;
};

/// Rings of one job on one cluster. One rank: nothing moves.
class Communicator {
 public:
  Communicator(const Cluster& cluster, const Placement& placement);

  /// The protocol with the smallest `alone`, as NCCL's tuner chooses. `alone` = latency + max over links (weights on it / its
  /// bandwidth) * size; latency = base + steps inside nodes * step + steps between nodes * network step.
  CollectivePlan plan(CollectiveOp op, Bytes size) const;

  /// One flow per ring edge and channel; weight = bytes on the wire per byte of message.
  std::vector<PatternFlow> flows(CollectiveOp op, Protocol protocol) const;

  int ranks() const { return ranks_; }
  bool has_ll128() const { return has_ll128_; }

 private:
  struct Edge {
    std::vector<LinkId> route;
    double share;  ///< of the message's ring traffic, corrected for the route's efficiency
  };
  void add_edges(const Cluster& cluster, const Placement& placement, const ChannelSet& set);
  void find_slowest_link(const Cluster& cluster);
  double wire_factor(Protocol protocol) const;
  Time latency(CollectiveOp op, Protocol protocol) const;

  int ranks_ = 1, nodes_ = 1, running_ = 1;
  bool has_ll128_ = false;
  bool pcie_inside_ = false;            ///< some step inside a node leaves NVLink
  std::vector<Edge> edges_;
  double seconds_per_ring_byte_ = 0;    ///< of traffic on every edge, on the slowest link
  ByteRate ll_cap_{};
};

}  // namespace foretrain
