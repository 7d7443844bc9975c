// Collectives of a job over a transport other than NCCL, at the three fidelities.
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/collective/transport_routes.hpp"
#include "sim/collective/transports/transport.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// One collective on an idle machine.
struct TransportRun {
  TransportPlan plan;         ///< the closed form, on the slowest way and the busiest link
  Time time{};                ///< at the fidelity asked for
  LinkId bottleneck = kNone;  ///< what limits the data; kNone: copies in the memory of a CPU
};

/// One collective as a task among others: `before` passes, then `flows` carry their bytes per byte of size
/// over the cluster's links. On an idle machine both together take the plan's time.
struct TransportTraffic {
  TransportPlan plan;
  Time before{};
  std::vector<PatternFlow> flows;
};

/// The ranks of a job and the ways between them. What an algorithm loads is counted once, whatever the number
/// of sizes.
///
/// analytic: plan() with the mean latency of what the busiest ranks send and receive, and the bandwidth of
/// the slowest of: what the busiest link leaves when all messages share it, and the rank whose messages, one
/// after the other, take longest. flow: what is not data in the closed form, then all pairs' bytes as max-min
/// flows. chunk: every message is an event; its software delays it and keeps its connection busy, or both
/// processes where an algorithm sends all at once. Beside the cluster's links: one per connection where the
/// transport limits a stream; one per receiving process where it copies in the memory of a CPU, and where
/// working on pipelined data is slower than the wire.
class TransportRequest {
 public:
  /// Keeps references. Requires the placement's nodes to be part of the cluster, and a known library.
  TransportRequest(const Cluster& cluster, const Placement& placement, const Transport& transport);

  /// Root: rank 0. `family`: of the algorithm catalog; empty: what the library takes. Throws InputError for a
  /// family that does not exist, or cannot do this; a library that has no such op says so in plan.choice.why,
  /// and there is no family. One rank: nothing, in no time.
  TransportRun run(CollectiveOp op, Bytes size, std::string_view family, Fidelity fidelity);
  /// What the library takes, to be run beside other traffic. Where a connection carries less than its links,
  /// the flows are stretched, for all collectives of a job share their connections; what else limits it is
  /// part of `before`.
  TransportTraffic traffic(CollectiveOp op, Bytes size);

 private:
  /// What an algorithm does to the links, per byte of size.
  struct Load {
    Time latency{};               ///< of one message, on average over those of the busiest ranks
    double seconds_per_byte = 0;  ///< of the busiest link
    double unshared = 0;  ///< seconds per byte of the slowest rank or, where all messages start at once, pair
    double unshared_bytes = 0;  ///< bytes per byte in that time
    LinkId busiest_link = kNone, narrowest_link = kNone;
    bool at_once = false;
    /// Seconds per byte of size, where `bytes` pass the longest chain or the busiest rank.
    double needed(double bytes) const {
      return std::max(seconds_per_byte, unshared * (at_once ? 1 : bytes / unshared_bytes));
    }
  };
  TransportChoice choice_of(CollectiveOp op, Bytes size, std::string_view family) const;
  AlgorithmRequest request_of(int pieces) const { return {order_, 0, pieces, groups_}; }
  const Load& load_of(const Algorithm& algorithm);
  std::vector<PatternFlow> flows_of(const Algorithm& algorithm) const;
  double seconds_per_byte(const std::vector<PatternFlow>& flows) const;
  double connection_seconds_per_byte(const std::vector<PatternFlow>& flows) const;
  Time flow_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const;
  Time chunk_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const;

  const Cluster& cluster_;
  const Transport& transport_;
  TransportRoutes ways_;
  std::vector<int> order_, groups_;
  std::map<std::string_view, Load> loads_;  ///< by name of the algorithm
};

}  // namespace foretrain
