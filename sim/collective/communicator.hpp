// The ranks of a job as NCCL sees them: what it would choose for a collective, what links that loads, and how
// long it takes.
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

/// How one collective will run.
struct CollectivePlan {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::optional<nccl::Algorithm> algorithm{};  ///< none: sends and receives between peers
  Protocol protocol = Protocol::simple;
  Bytes size{};
  int channels = 0;  ///< thread blocks, one SM each
  /// Host time of the launches of one process; one after the other they bound the rate of small messages
  Time launch{};
  Time latency{};  ///< before the data flows
  Time alone{};    ///< latency and data on an idle machine, without the launch
  /// The traffic takes so much longer than the links alone would need: thread blocks are the bottleneck
  double stretch = 1;
  nccl::ChunkShape chunk{};
  PeerSend send{};  ///< of sends and receives
  CollectiveTiming timing{};
  Bottleneck bottleneck{};
  std::string why;  ///< what lost, for Decisions
  /// "Ring", "Tree", "NVLS", …; "Peers" for sends and receives.
  std::string_view algorithm_name() const;
  /// Of `alone`, what the calls before and behind it hide in the loop of nccl-tests: down a chain one
  /// follows the other without waiting for the last rank
  Time hidden{};
  /// What nccl-tests would print: of its loop, in which launches overlap with the collectives before.
  Time back_to_back() const;
  /// That without the launches.
  Time occupied() const { return alone - hidden; }
  /// One call by itself: its launches, then the collective.
  Time single() const { return launch + alone; }
};

/// Size of a collective: as nccl-tests counts it (all_gather, reduce_scatter, gather, scatter: all ranks'
/// parts together; alltoall, sendrecv: what one rank sends). Root: rank 0.
class Communicator {
 public:
  /// Requires the ranks' nodes to be part of the cluster, which must outlive this.
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings = {});
  /// The same with other cost constants (fits, calibrations).
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings,
               const CollectiveCosts& costs);
  /// The same with nodes that were searched before.
  Communicator(const Cluster& cluster, const Placement& placement, const CollectiveSettings& settings,
               nccl::NodeGraphCache& searched);
  ~Communicator();
  Communicator(Communicator&&) noexcept;

  /// What NCCL would take (its own forecast decides; settings may force), timed by our model. One rank: a
  /// copy, by the kernel alone. `explain`: also fill `why`.
  CollectivePlan plan(CollectiveOp op, Bytes size, bool explain = true) const;
  /// The traffic per byte of message: the flows that touch the first node of the job, and the busiest link of
  /// all with its whole load. Nodes that do the same are one node here (folding); `tests/laws` compares with
  /// every flow written out.
  std::vector<PatternFlow> flows(const CollectivePlan& plan) const;
  /// The same as seen from another node of the job, by its number in the cluster.
  std::vector<PatternFlow> flows(const CollectivePlan& plan, int node) const;

  /// The links between switches that the plan's traffic crosses, of all nodes.
  const std::vector<LinkId>& links_between_switches(const CollectivePlan& plan) const;

  int size() const;
  int nodes() const;
  const CollectiveCosts& costs() const;
  const nccl::Job& job() const;  ///< channels and forecasts
  const Cluster& cluster() const;
  /// Whether the GPUs of a node that are neighbours in a ring are joined by NVLink.
  bool nvlink() const;
  /// What a relay to another GPU's NIC adds to a send between nodes.
  Time send_relay() const;
  /// By NodeShape of the job: the search's paths, equal ones in one.
  const std::vector<std::vector<SharedPath>>& paths(nccl::Pattern pattern) const;
  /// Bytes on the wire for one byte of data: flags of the protocol, what the route loses, and for LL between
  /// nodes the CPU that checks.
  double wire_bytes(const CollectivePlan& plan, const Route& route) const;

 private:
  void drop_links_of_others(Route& route, int first) const;
  void add_rest_of_worst(std::vector<PatternFlow>& flows, const Bottleneck& worst, double factor) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foretrain
