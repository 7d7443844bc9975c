// By which GPU and which NIC a message leaves its node, and out of whose memory the NIC takes it.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// PXN relays a message over NVLink to the GPU beside the NIC; GPUDirect lets the NIC write into any GPU that
/// it reaches, but read only out of some (docs/sources/nccl_peers.md 3.1, 4.1). Requires that both outlive
/// this.
class NicUse {
 public:
  NicUse(const Cluster& cluster, const nccl::Job& job);

  /// The NIC a rank's own sends and receives use.
  int own_nic(GpuPlace place) const;
  /// On a channel, of which the search chose the NIC.
  NodeExit of_channel(GpuPlace place, int nic) const;

  /// The first NIC of a message to a peer on another node, and the way there.
  struct Send {
    int nic = 0;
    NodeExit exit{};
    friend bool operator==(const Send&, const Send&) = default;
  };
  /// `peer_gpu`: the number of the receiver's GPU on its node. Its NIC is the one NCCL prefers (PXN level 2),
  /// so that the message stays on that rail.
  Send of_send(GpuPlace place, int peer_gpu) const;
  /// Whether some GPU takes sends for another.
  bool relays() const { return relays_; }

 private:
  /// Of a NodeShape of the job.
  struct Table {
    std::vector<int> own;             ///< by GPU of the node; -1: not in the job
    std::vector<int> holder;          ///< by NIC: the job's GPU beside it that uses it; -1: none
    std::vector<bool> read_directly;  ///< by GPU
  };
  Table table_of(const nccl::NodeShape& shape, int node) const;
  Table table_of_host() const;  ///< of an NVLink domain, whose hosts are alike
  GpuPlace on_host(GpuPlace gpu) const;
  int holder_of(const nccl::NodeShape& shape, const std::vector<int>& own, int node, int nic) const;
  bool reads_directly(const nccl::NodeShape& shape, int node, int gpu) const;
  bool has_relay(const nccl::NodeShape& shape, int node) const;
  const Table& at(int node) const;
  bool joined(int node, int a, int b) const;
  bool beside(int node, int gpu, int nic) const;
  NodeExit exit_by(const Table& table, GpuPlace from, int holder) const;

  const Cluster& cluster_;
  const nccl::Job& job_;
  bool relaying_ = false, relays_ = false;
  std::vector<Table> tables_;       ///< by NodeShape
  std::vector<int> shape_of_node_;  ///< by node of the cluster; -1: not in the job
};

}  // namespace foretrain
