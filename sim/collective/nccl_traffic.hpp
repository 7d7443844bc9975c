// Which links NCCL's rings, trees, NVLS and sends load, and how much, on the channels its search found.
#pragma once

#include <functional>
#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// A path through a node that carries a share of every message.
struct SharedPath {
  nccl::ChannelPath path;
  double share = 1;
};

/// The first `count` channels, with equal shares that are 1 together; `merge`: equal paths are one, with the
/// sum of their shares.
std::vector<SharedPath> share_paths(const std::vector<nccl::ChannelPath>& channels, int count, bool merge);

/// One stream of bytes between two ranks' GPUs.
struct TrafficEdge {
  GpuPlace from, to;
  int from_nic = -1, to_nic = -1;  ///< -1: inside a node
  double share = 0;                ///< bytes per byte of message
  NodeExit exit{};                 ///< how it gets to from_nic
};

/// Is told every edge once; edges inside nodes only for the first node of each class.
using EdgeVisitor = std::function<void(const TrafficEdge&)>;

/// What the edges are made from. `paths`: by NodeShape of the job, equally many channels in each.
struct TrafficInput {
  const nccl::Job& job;
  const std::vector<std::vector<SharedPath>>& paths;
  nccl::Pattern pattern = nccl::Pattern::ring;
};

/// Edges of a ring, each with a share of 1 on all channels together. `idle`: on one node, the GPU whose
/// inbound (broadcast) or outbound (reduce) edge carries nothing.
enum class IdleEdge : std::uint8_t { none, into_root, out_of_root };
void visit_ring(const TrafficInput& input, IdleEdge idle, int root_gpu, const EdgeVisitor& visit);
/// Edges of the double binary tree of all_reduce, up and down (docs/sources/nccl_tuning.md 4.3).
void visit_trees(const TrafficInput& input, const EdgeVisitor& visit);
/// Between nodes, of NVLSTree: the first GPU of every channel joins its like on other nodes by the double
/// binary tree.
void visit_heads(const TrafficInput& input, const EdgeVisitor& visit);

}  // namespace foretrain
