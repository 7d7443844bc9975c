// The links that NCCL's rings, trees, NVLS and sends load, and their shares, on the channels that the search
// found.
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

/// Returns the first `count` channels with equal shares, whose sum is 1. `merge` turns equal paths into one
/// with the sum of their shares.
std::vector<SharedPath> share_paths(const std::vector<nccl::ChannelPath>& channels, int count, bool merge);

/// A stream of bytes between two ranks' GPUs.
struct TrafficEdge {
  GpuPlace from, to;
  /// -1: inside a node.
  int from_nic = -1, to_nic = -1;
  /// Bytes per byte of message.
  double share = 0;
  /// The way to from_nic.
  NodeExit exit{};
};

/// Receives every edge once; edges inside nodes only for the first node of each class.
using EdgeVisitor = std::function<void(const TrafficEdge&)>;

/// The input of the walks below. `paths` is by NodeShape of the job, with equally many channels in each.
struct TrafficInput {
  const nccl::Job& job;
  const std::vector<std::vector<SharedPath>>& paths;
  nccl::Pattern pattern = nccl::Pattern::ring;
};

/// The edge of a ring that carries nothing: the one into the root (broadcast) or out of the root (reduce).
enum class IdleEdge : std::uint8_t { none, into_root, out_of_root };
/// Visits the edges of a ring. Each has a share of 1 on all channels together. On one node the edge that
/// `idle` describes at `root_gpu` is left out.
void visit_ring(const TrafficInput& input, IdleEdge idle, int root_gpu, const EdgeVisitor& visit);
/// Visits the edges of the double binary tree of all_reduce, up and down (docs/sources/nccl_tuning.md 4.3).
void visit_trees(const TrafficInput& input, const EdgeVisitor& visit);
/// Visits the edges of NVLSTree between nodes: the first GPUs of a channel on all nodes form a double binary
/// tree.
void visit_heads(const TrafficInput& input, const EdgeVisitor& visit);

}  // namespace foretrain
