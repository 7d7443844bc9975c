// The ranks of a job as NCCL sees them: what NCCL would choose for a collective, which links that loads, and
// how long it takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/costs.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/collective/nccl_traffic.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/collective/settings.hpp"
#include "sim/collective/timing.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// The choice of NCCL for one collective, with its modelled time.
struct CollectivePlan {
  CollectiveOp op = CollectiveOp::all_reduce;
  /// The chosen algorithm; none: sends and receives between peers.
  std::optional<nccl::Algorithm> algorithm{};
  Protocol protocol = Protocol::simple;
  /// Size of the message as nccl-tests counts it.
  Bytes size{};
  /// Thread blocks, one SM each.
  int channels = 0;
  /// Host time of the launches of one process. They are sequential, so they bound the rate of small messages.
  Time launch{};
  /// Time before the data flows.
  Time latency{};
  /// Time of latency and data on an idle machine, without the launch.
  Time alone{};
  /// Factor by which the traffic takes longer than the links alone would need, because thread blocks are the
  /// bottleneck.
  double stretch = 1;
  nccl::ChunkShape chunk{};
  /// Describes sends and receives.
  PeerSend send{};
  CollectiveTiming timing{};
  Bottleneck bottleneck{};
  /// The alternatives that lost, for Decisions.
  std::string why;
  /// Returns "Ring", "Tree", "NVLS", …; "Peers" for sends and receives.
  std::string_view algorithm_name() const;
  /// Part of `alone` that overlaps with the calls before and after it in the loop of nccl-tests. Down a
  /// chain, one call follows the other without waiting for the last rank.
  Time hidden{};
  /// Returns what nccl-tests would print: the time per call of its loop, in which launches overlap with
  /// earlier collectives.
  Time back_to_back() const;
  /// Returns the same without the launches.
  Time occupied() const { return alone - hidden; }
  /// Returns the time of an isolated call: its launches, then the collective.
  Time single() const { return launch + alone; }
};

/// The model of a communicator: choice, traffic and time of collectives among the ranks of a placement.
///
/// Sizes are as nccl-tests counts them: all ranks' parts together for all_gather, reduce_scatter, gather and
/// scatter; what one rank sends for alltoall and sendrecv. The root is rank 0. Link loads are computed at
/// first use and cached, so even const calls on one object must not run concurrently.
class Communicator {
 public:
  /// Inspects the job as NCCL does. Requires that the ranks' nodes are part of the cluster, which must
  /// outlive this object.
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings = {});
  /// The same with other cost constants (fits, calibrations).
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings,
               // The same with other cost constants, for fits and calibrations.
               const CollectiveCosts& costs);
  /// The same with nodes that were searched before.
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings,
               // The same with a cache of nodes whose graphs are searched already.
               nccl::NodeGraphCache& searched);
  ~Communicator();
  Communicator(Communicator&&) noexcept;

  /// Returns what NCCL would choose, with the modelled time. NCCL's own forecast decides; settings may force
  /// a choice. One rank is a copy with the time of the kernel alone. `explain` also fills `why`, which costs
  /// more forecasts.
  CollectivePlan plan(CollectiveOp op, Bytes size, bool explain = true) const;
  /// Returns the traffic per byte of message: the flows that touch the first node of the job, and the busiest
  /// link of all with its whole load. Nodes that do the same are one node here (folding). `tests/laws`
  /// compares with all flows written out.
  std::vector<PatternFlow> flows(const CollectivePlan& plan) const;
  /// Returns the same as seen from another node of the job, by its number in the cluster.
  std::vector<PatternFlow> flows(const CollectivePlan& plan, int node) const;

  /// Returns the links between switches that the plan's traffic crosses, of all nodes.
  const std::vector<LinkId>& links_between_switches(const CollectivePlan& plan) const;

  int size() const;
  int nodes() const;
  const CollectiveCosts& costs() const;
  /// The result of NCCL's inspection: channels and forecasts.
  const nccl::Job& job() const;
  const Cluster& cluster() const;
  /// Returns whether the GPUs of a node that are neighbours in a ring are joined by NVLink.
  bool nvlink() const;
  /// Returns the time that a relay to another GPU's NIC adds to a send between nodes.
  Time send_relay() const;
  /// Returns the paths that the search found, by NodeShape of the job; equal paths are one.
  const std::vector<std::vector<SharedPath>>& paths(nccl::Pattern pattern) const;
  /// Returns the bytes on the wire for one byte of data: flags of the protocol, the loss of the route, and
  /// for LL between nodes the limit of the CPU that checks the lines.
  double wire_bytes(const CollectivePlan& plan, const Route& route) const;

 private:
  void drop_links_of_others(Route& route, int first) const;
  void add_rest_of_worst(std::vector<PatternFlow>& flows, const Bottleneck& worst, double factor) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foretrain
