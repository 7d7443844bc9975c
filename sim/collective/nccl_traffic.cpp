// Walks over the channels. Inside a node all channels of a class are walked once. Between nodes every pair of
// neighbours is visited, path by path.
#include "sim/collective/nccl_traffic.hpp"

#include <algorithm>
#include <span>

#include "sim/collective/nccl/double_tree.hpp"

namespace foretrain {

namespace {

const std::vector<SharedPath>& paths_of(const TrafficInput& input, const nccl::JobNode& group) {
  return input.paths[static_cast<std::size_t>(group.shape)];
}

/// Calls `walk(group)` for the first node of each shape.
template <typename Walk>
void for_each_shape(const nccl::Job& job, Walk walk) {
  for (std::size_t shape = 0; shape < job.shapes.size(); ++shape) {
    walk(*std::ranges::find(job.nodes, static_cast<int>(shape), &nccl::JobNode::shape));
  }
}

TrafficEdge inside(const nccl::JobNode& group, int from, int to, double share) {
  return {{group.node, from}, {group.node, to}, -1, -1, share, {}};
}

/// Returns whether the edge carries nothing because of the root.
bool is_idle(const TrafficEdge& edge, IdleEdge idle, int root_gpu) {
  return idle == IdleEdge::into_root ? edge.to.gpu == root_gpu
                                     : idle == IdleEdge::out_of_root && edge.from.gpu == root_gpu;
}

/// Visits the edges of a path through a node; `closed` adds the edge back to the first GPU.
void visit_ring_inside(const nccl::JobNode& group, const SharedPath& path, bool closed,
                       const EdgeVisitor& visit) {
  const std::vector<int>& gpus = path.path.gpus;
  for (std::size_t i = 0; i + 1 < gpus.size(); ++i) visit(inside(group, gpus[i], gpus[i + 1], path.share));
  if (closed && gpus.size() > 1) visit(inside(group, gpus.back(), gpus.front(), path.share));
}

/// The place at which an edge of a tree ends in a node.
struct Port {
  int gpu = 0, nic = 0;
};

/// Returns the port for the parent, which is at the first GPU (docs/sources/nccl_tuning.md 4.1).
Port parent_port(const nccl::ChannelPath& path) { return {path.gpus.front(), path.nic_in}; }

/// Returns the port for a child. By the pattern it is at the first GPU or at the second one.
Port child_port(const nccl::ChannelPath& path, nccl::Pattern pattern, int child) {
  const bool second_gpu =
      pattern == nccl::Pattern::split_tree || (pattern == nccl::Pattern::balanced_tree && child == 1);
  if (!second_gpu || path.gpus.size() < 2) return parent_port(path);
  return {path.gpus[1], path.nic_out < 0 ? path.nic_in : path.nic_out};
}

/// Visits the edges between a node and its parent in one tree, in both directions. Each of the two trees has
/// half of the data.
void visit_both_ways(const TrafficInput& input, std::size_t node, const nccl::TreePlace& place,
                     int tree_nodes_child, std::size_t p, const EdgeVisitor& visit) {
  const nccl::JobNode &low = input.job.nodes[node],
                      &high = input.job.nodes[static_cast<std::size_t>(place.parent)];
  // A partly used node may have fewer distinct paths than the other end, so its paths take turns.
  const std::vector<SharedPath>& paths_above = paths_of(input, high);
  const SharedPath &below = paths_of(input, low)[p], &above = paths_above[p % paths_above.size()];
  const Port from = parent_port(below.path), to = child_port(above.path, input.pattern, tree_nodes_child);
  const double share = below.share / 2;
  visit({{low.node, from.gpu}, {high.node, to.gpu}, from.nic, to.nic, share, {}});
  visit({{high.node, to.gpu}, {low.node, from.gpu}, to.nic, from.nic, share, {}});
}

int child_index(const nccl::TreePlace& parent, int node) { return parent.children[1] == node ? 1 : 0; }

/// Visits the edges of both trees between all nodes.
void visit_trees_between(const TrafficInput& input, const EdgeVisitor& visit) {
  const int nodes = static_cast<int>(input.job.nodes.size());
  if (nodes < 2) return;
  const std::vector<nccl::DoubleTreePlace> places = nccl::double_tree_places(nodes);
  for (int node = 0; node < nodes; ++node) {
    const std::size_t n = static_cast<std::size_t>(node), paths = paths_of(input, input.job.nodes[n]).size();
    for (const auto tree : {&nccl::DoubleTreePlace::first, &nccl::DoubleTreePlace::second}) {
      const nccl::TreePlace& place = places[n].*tree;
      if (place.parent < 0) continue;
      const int child = child_index(places[static_cast<std::size_t>(place.parent)].*tree, node);
      for (std::size_t p = 0; p < paths; ++p) visit_both_ways(input, n, place, child, p, visit);
    }
  }
}

}  // namespace

std::vector<SharedPath> share_paths(const std::vector<nccl::ChannelPath>& channels, int count, bool merge) {
  std::vector<SharedPath> shared;
  const std::size_t running = std::min(channels.size(), static_cast<std::size_t>(std::max(1, count)));
  for (const nccl::ChannelPath& channel : std::span(channels).first(running)) {
    const double share = 1.0 / static_cast<double>(running);
    const auto known = std::ranges::find(shared, channel, &SharedPath::path);
    if (merge && known != shared.end())
      known->share += share;
    else
      shared.push_back({channel, share});
  }
  return shared;
}

void visit_ring(const TrafficInput& input, IdleEdge idle, int root_gpu, const EdgeVisitor& visit) {
  const std::vector<nccl::JobNode>& nodes = input.job.nodes;
  const bool one_node = nodes.size() == 1;
  const EdgeVisitor busy = [&](const TrafficEdge& edge) {
    if (!is_idle(edge, idle, root_gpu)) visit(edge);
  };
  for_each_shape(input.job, [&](const nccl::JobNode& group) {
    for (const SharedPath& path : paths_of(input, group))
      visit_ring_inside(group, path, one_node, one_node ? busy : visit);
  });
  if (one_node) return;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const nccl::JobNode &here = nodes[n], &next = nodes[(n + 1) % nodes.size()];
    const std::vector<SharedPath>&from = paths_of(input, here), &to = paths_of(input, next);
    for (std::size_t p = 0; p < std::min(from.size(), to.size()); ++p) {
      const int ring = static_cast<int>(p);
      const SharedPath& out = from[static_cast<std::size_t>(input.job.ring_on(ring, n))];
      const SharedPath& in = to[static_cast<std::size_t>(input.job.ring_on(ring, (n + 1) % nodes.size()))];
      visit({{here.node, out.path.gpus.back()},
             {next.node, in.path.gpus.front()},
             out.path.nic_out,
             in.path.nic_in,
             out.share,
             {}});
    }
  }
}

void visit_trees(const TrafficInput& input, const EdgeVisitor& visit) {
  for_each_shape(input.job, [&](const nccl::JobNode& group) {
    for (const SharedPath& path : paths_of(input, group)) {
      const std::vector<int>& gpus = path.path.gpus;
      for (std::size_t i = 0; i + 1 < gpus.size(); ++i) {
        visit(inside(group, gpus[i], gpus[i + 1], path.share));
        visit(inside(group, gpus[i + 1], gpus[i], path.share));
      }
    }
  });
  visit_trees_between(input, visit);
}

void visit_heads(const TrafficInput& input, const EdgeVisitor& visit) { visit_trees_between(input, visit); }

}  // namespace foretrain
