// Collectives of a job over a transport other than NCCL, at the three fidelities.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/collective/transport_ways.hpp"
#include "sim/collective/transports/transport.hpp"

namespace foretrain {

/// One collective on an idle machine.
struct TransportRun {
  TransportPlan plan;         ///< the closed form, on the slowest way and the busiest link
  Time time{};                ///< at the fidelity asked for
  LinkId bottleneck = kNone;  ///< what limits the data; kNone: copies in the memory of a CPU
};

/// The ranks of a job and the ways between them. What an algorithm loads is counted once, whatever the number of sizes.
///
/// analytic: plan(), with the latency of the slowest way, and a bandwidth that is the smaller of the narrowest way's and what the busiest
/// link leaves when all messages of the collective share it. flow: what is not data in the closed form, then all pairs' bytes as max-min
/// flows. chunk: every message an event; software of a message delays it and keeps its connection busy. A connection has a private link
/// where the transport limits a stream, or where both ends copy in one CPU's memory.
class TransportJob {
 public:
  /// Keeps references. Requires the placement's nodes to be part of the cluster, and a known library.
  TransportJob(const Cluster& cluster, const Placement& placement, const Transport& transport);

  /// Root: rank 0. `family`: of the algorithm catalog; empty: what the library takes. Throws InputError for a family that does not exist,
  /// or cannot do this; a library that has no such op says so in plan.choice.why, and family is empty. One rank: nothing, in no time.
  TransportRun run(CollectiveOp op, Bytes size, std::string_view family, Fidelity fidelity);

 private:
  /// What an algorithm does to the links, per byte of size.
  struct Load {
    Time latency{};        ///< of the slowest way
    ByteRate narrowest{};  ///< of any way
    LinkId narrowest_link = kNone;
    double seconds_per_byte = 0;  ///< of the busiest link
    LinkId busiest_link = kNone;
    double pair_share = 0;  ///< most bytes between two ranks
  };
  TransportChoice choice_of(CollectiveOp op, Bytes size, std::string_view family) const;
  AlgorithmRequest request_of(int pieces) const { return {order_, 0, pieces, groups_}; }
  const Load& load_of(const Algorithm& algorithm);
  /// The most one connection carries of wire bytes per second; 0: no limit.
  double private_rate(const TransportWay& way, const TransportPlan& plan) const;
  Time flow_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan, const Load& load) const;
  Time chunk_level(const Algorithm& algorithm, Bytes size, const TransportPlan& plan) const;

  const Cluster& cluster_;
  const Transport& transport_;
  TransportWays ways_;
  std::vector<int> order_, groups_;
  std::map<std::string_view, Load> loads_;  ///< by name of the algorithm
};

}  // namespace foretrain
