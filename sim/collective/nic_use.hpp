// The GPU and the NIC by which a message leaves its node, and the memory out of which the NIC reads it.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// The rules of NCCL for relays and NICs (docs/sources/nccl_peers.md 3.1, 4.1). PXN relays a message over
/// NVLink to the GPU near the NIC. GPUDirect lets the NIC write into any GPU that it reaches, but read only
/// out of some. Requires that cluster and job outlive the object.
class NicUse {
 public:
  NicUse(const Cluster& cluster, const nccl::Job& job);

  /// Returns the NIC that a rank's own sends and receives use.
  int own_nic(GpuPlace place) const;
  /// Returns the exit for a channel whose NIC the search chose.
  NodeExit of_channel(GpuPlace place, int nic) const;

  /// The first NIC of a message to a peer on another node, and the way to it.
  struct Send {
    int nic = 0;
    NodeExit exit{};
    friend bool operator==(const Send&, const Send&) = default;
  };
  /// Returns the exit of a send. `peer_gpu` is the number of the receiver's GPU on its node. NCCL prefers the
  /// NIC of that number's rail (PXN level 2), so that the message stays on the rail.
  Send of_send(GpuPlace place, int peer_gpu) const;
  /// Returns whether some GPU relays sends for another GPU.
  bool relays() const { return relays_; }

 private:
  /// The rules evaluated for a NodeShape of the job.
  struct Table {
    /// The NIC of each GPU of the node; -1: not in the job.
    std::vector<int> own;
    /// The job's GPU near each NIC that uses it; -1: none.
    std::vector<int> holder;
    /// Per GPU: the NIC reads out of its memory.
    std::vector<bool> read_directly;
  };
  Table table_of(const nccl::NodeShape& shape, int node) const;
  /// The table of a host of an NVLink domain; all hosts are alike.
  Table table_of_host() const;
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
  /// Tables by NodeShape.
  std::vector<Table> tables_;
  /// Shape by node of the cluster; -1: not in the job.
  std::vector<int> shape_of_node_;
};

}  // namespace foretrain
