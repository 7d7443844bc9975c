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

/// The result for one collective on an idle machine.
struct TransportRun {
  /// The closed form, for the slowest route and the busiest link.
  TransportPlan plan;
  /// Time at the requested fidelity.
  Time time{};
  /// The link that limits the data; kNone: copies in the memory of a CPU.
  LinkId bottleneck = kNone;
};

/// A collective as a task among others. `before` passes, then `flows` carry their bytes per byte of size over
/// the cluster's links. On an idle machine both together take the plan's time.
struct TransportTraffic {
  TransportPlan plan;
  Time before{};
  std::vector<PatternFlow> flows;
};

/// The ranks of a job and the routes between them. The loads of an algorithm are counted once for any number
/// of sizes, and cached; not thread-safe.
///
/// analytic: plan() with the mean latency of the busiest ranks' messages and the smaller of two bandwidths.
/// One is what the busiest link leaves when all messages share it. The other is that of the rank whose
/// messages, in sequence, take longest.
///
/// flow: the part of the closed form that is not data, then the bytes of all pairs as max-min flows.
///
/// chunk: every message is an event. Its software delays it and occupies its connection, or both processes if
/// an algorithm sends all messages at once. Further links are added to the cluster's: one per connection if
/// the transport limits a stream, and one per receiving process if it copies in the memory of a CPU or works
/// on pipelined data more slowly than the wire.
class TransportRequest {
 public:
  /// Keeps references. Requires that the placement's nodes are part of the cluster, and a known library.
  TransportRequest(const Cluster& cluster, const Placement& placement, const Transport& transport);

  /// Runs a collective; the root is rank 0. `family` is a name of the algorithm catalog; empty: the library's
  /// choice. Throws InputError for a family that does not exist or cannot do this. If the library lacks the
  /// operation, plan.choice.why says so and there is no family. One rank takes no time.
  TransportRun run(CollectiveOp op, Bytes size, std::string_view family, Fidelity fidelity);
  /// Returns the library's choice as a task concurrent with other traffic. If a connection carries less than
  /// its links, the flows are stretched, because all collectives of a job share their connections. Other
  /// limits are part of `before`.
  TransportTraffic traffic(CollectiveOp op, Bytes size);

 private:
  /// The load of the links by an algorithm, per byte of size.
  struct Load {
    /// Latency of one message: the mean over those of the busiest ranks.
    Time latency{};
    /// Seconds per byte of the busiest link.
    double seconds_per_byte = 0;
    /// Seconds per byte of the slowest rank, or of the slowest pair if all messages start at once.
    double unshared = 0;
    /// Bytes per byte of size that this time covers.
    double unshared_bytes = 0;
    LinkId busiest_link = kNone, narrowest_link = kNone;
    bool at_once = false;
    /// Returns the seconds per byte of size if `bytes` pass the longest chain or the busiest rank.
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
  /// Loads by name of the algorithm.
  std::map<std::string_view, Load> loads_;
};

}  // namespace foretrain
