// NCCL's decisions for a job: its channels on every node, its forecast, and what it runs for a message.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/node_graphs.hpp"
#include "sim/collective/nccl/settings.hpp"
#include "sim/collective/nccl/tuning.hpp"

namespace foretrain::nccl {

/// Nodes of one type of which the job has the same GPUs. They are searched once.
struct NodeShape : NodeGraphs {
  /// GPU indices, ascending.
  std::vector<int> gpus;
  /// The type by Cluster::type_of_node().
  int type = 0;
};

/// The job's part of one node, or of an NVLink domain of several nodes (FabricSpec::nvlink_domain).
struct JobNode {
  /// Number in the cluster; for a domain that of its first node.
  int node = 0;
  /// Index into Job::shapes.
  int shape = 0;
  /// Index into Job::ranks at which its ranks begin.
  int first = 0;
};

/// A rank's neighbours in one channel's tree; -1: none. `down` has the next GPU of its own node first, then
/// GPUs of other nodes.
struct TreeLinks {
  int up = -1;
  std::array<int, 3> down{-1, -1, -1};
  friend bool operator==(const TreeLinks&, const TreeLinks&) = default;
};

/// The choice, channels and pieces of one message.
struct Plan {
  Choice choice;
  RunShape run;
  ChunkShape chunk;
};

/// The decisions that NCCL makes once for a communicator: the graphs of its nodes, channels, and the input of
/// the forecast. It is immutable after inspect(), so several threads may read it.
class Job {
 public:
  Settings settings;
  std::vector<NodeShape> shapes;
  /// Nodes in the order of their lowest ranks.
  std::vector<JobNode> nodes;
  /// Ranks node by node, in the order of the shape's GPUs.
  std::vector<int> ranks;
  /// Every figure is the smallest over all nodes.
  TuningInput input;
  TuningTable table;
  /// Rings that the search found.
  int search_channels = 1;
  /// Channels that run. Channel c follows the search's ring c mod search_channels.
  int coll_channels = 1;
  int nvls_channels = 0;
  int p2p_channels = 1, p2p_per_peer = 1;
  /// Odd nodes exchange the rings of each pair, so that a ring that leaves by one rail comes in by the same
  /// rail (NCCL 2.22, src/graph/connect.cc).
  bool swaps_ring_pairs = false;
  /// Number of the cluster's nodes that are one node to NCCL.
  int hosts = 1;
  /// GPUs of a host. With several hosts, GPU i of a node is GPU i mod gpus_per_host of host i /
  /// gpus_per_host.
  int gpus_per_host = 1;

  /// Returns the place in the cluster of a GPU as shapes and paths number it.
  GpuPlace place(int node, int gpu) const {
    return hosts == 1 ? GpuPlace{node, gpu} : GpuPlace{node + gpu / gpus_per_host, gpu % gpus_per_host};
  }
  const NodeShape& shape_of(const JobNode& node) const {
    return shapes[static_cast<std::size_t>(node.shape)];
  }
  /// Returns the search's ring that ring `ring` (below search_channels) follows on a node (index into
  /// `nodes`).
  int ring_on(int ring, std::size_t node) const {
    return swaps_ring_pairs && node % 2 == 1 ? ring ^ 1 : ring;
  }
  /// Returns the ranks of a node in the order of its shape's GPUs.
  std::span<const int> ranks_of(const JobNode& node) const {
    return std::span(ranks).subspan(static_cast<std::size_t>(node.first), shape_of(node).gpus.size());
  }

  /// Returns what runs for a message. Requires is_tuned(op) and at least two ranks. If a forced choice is not
  /// available, NCCL's free choice is returned. `grouped` is the number of collectives in one group.
  Plan plan(CollectiveOp op, std::int64_t bytes, int grouped = 1) const;
  /// Returns the text for --explain: "Ring/Simple 410.3 us; next …; 24 channels of 512 threads".
  std::string reason(CollectiveOp op, std::int64_t bytes, const Plan& plan) const;

  /// Returns the ranks in ring order of a running channel.
  std::vector<int> ring_order(int channel) const;
  /// Returns the path of a channel's ring or tree in a node (index into `nodes`), with the NICs by which it
  /// enters and leaves; -1 on a single node.
  const ChannelPath& ring_path(int channel, int node) const;
  const ChannelPath& tree_path(int channel, int node) const;
  /// Returns the neighbours of each rank. Half of the channels use the first of the two trees between nodes,
  /// the other half the second.
  std::vector<TreeLinks> tree_links(int channel) const;

 private:
  RunSetting run_setting() const;
};

/// Inspects a job as NCCL does when it makes a communicator. Requires that every rank's node is part of the
/// cluster, and at least one rank.
Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings = {});
/// Inspects the job as if no NVLink fabric joined nodes.
Job inspect_hosts(const Cluster& cluster, const Placement& placement, const Settings& settings,
                  NodeGraphCache& searched);
/// The same with a cache of nodes that were searched before.
Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings,
            NodeGraphCache& searched);

}  // namespace foretrain::nccl
