// What NCCL would make of a job: its channels on every node, its forecast, and what it runs for a message.
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

/// Nodes of one type of which the job has the same GPUs; searched once.
struct NodeShape : NodeGraphs {
  std::vector<int> gpus;  ///< ascending
  int type = 0;           ///< Cluster::type_of_node()
};

/// The job's part of one node, or of an NVLink domain of several (FabricSpec::nvlink_domain).
struct JobNode {
  int node = 0;   ///< of the cluster; of a domain the first
  int shape = 0;  ///< index into Job::shapes
  int first = 0;  ///< where its ranks begin in Job::ranks
};

/// A rank's place in one channel's tree; -1: none. `down` is the next GPU of its own node, then the other
/// nodes.
struct TreeLinks {
  int up = -1;
  std::array<int, 3> down{-1, -1, -1};
  friend bool operator==(const TreeLinks&, const TreeLinks&) = default;
};

/// What runs for one message.
struct Plan {
  Choice choice;
  RunShape run;
  ChunkShape chunk;
};

/// All that NCCL decides once for a communicator: graphs of its nodes, channels, and what the forecast needs.
/// It is immutable after inspect(), so that several threads may read it.
class Job {
 public:
  Settings settings;
  std::vector<NodeShape> shapes;
  std::vector<JobNode> nodes;  ///< in the order of their lowest ranks
  std::vector<int> ranks;      ///< node by node, of the shape's GPUs, in their order
  TuningInput input;           ///< every figure the smallest over all nodes
  TuningTable table;
  int search_channels = 1;  ///< rings the search found
  int coll_channels = 1;    ///< that run: channel c follows the search's ring c mod search_channels
  int nvls_channels = 0;
  int p2p_channels = 1, p2p_per_peer = 1;
  /// Odd nodes take the rings of each pair the other way round, so that a ring that leaves by one rail comes
  /// in by the same one (NCCL 2.22, src/graph/connect.cc).
  bool swaps_ring_pairs = false;
  int hosts = 1;          ///< nodes of the cluster that are one to NCCL
  int gpus_per_host = 1;  ///< with several hosts, GPU i of a node is GPU i mod this of host i / this

  /// Of a GPU, as shapes and paths number it.
  GpuPlace place(int node, int gpu) const {
    return hosts == 1 ? GpuPlace{node, gpu} : GpuPlace{node + gpu / gpus_per_host, gpu % gpus_per_host};
  }
  const NodeShape& shape_of(const JobNode& node) const {
    return shapes[static_cast<std::size_t>(node.shape)];
  }
  /// The search's ring that ring `ring` (below search_channels) follows on a node (index into `nodes`).
  int ring_on(int ring, std::size_t node) const {
    return swaps_ring_pairs && node % 2 == 1 ? ring ^ 1 : ring;
  }
  std::span<const int> ranks_of(const JobNode& node) const {
    return std::span(ranks).subspan(static_cast<std::size_t>(node.first), shape_of(node).gpus.size());
  }

  /// Requires is_tuned(op), at least two ranks. When what the settings force is not available, what NCCL
  /// would choose freely.
  Plan plan(CollectiveOp op, std::int64_t bytes, int grouped = 1) const;
  /// For --explain: "Ring/Simple 410.3 us; next …; 24 channels of 512 threads".
  std::string reason(CollectiveOp op, std::int64_t bytes, const Plan& plan) const;

  /// Ranks in ring order of a running channel.
  std::vector<int> ring_order(int channel) const;
  /// NIC by which a ring enters and leaves a node (index into `nodes`); -1 on a single node.
  const ChannelPath& ring_path(int channel, int node) const;
  const ChannelPath& tree_path(int channel, int node) const;
  /// By rank. Half of the channels use the first, half the second of the two trees between nodes.
  std::vector<TreeLinks> tree_links(int channel) const;

 private:
  RunSetting run_setting() const;
};

/// Requires every rank's node to be part of the cluster, and at least one rank.
Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings = {});
/// As if no NVLink fabric joined nodes.
Job inspect_hosts(const Cluster& cluster, const Placement& placement, const Settings& settings,
                  NodeGraphCache& searched);
/// The same with what was searched before.
Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings,
            NodeGraphCache& searched);

}  // namespace foretrain::nccl
