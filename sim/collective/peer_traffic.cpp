// An alltoall counts pairs of nodes and not of ranks. GPUs of a node that share a NIC are one source, except
// on the nodes whose own links count.
#include "sim/collective/peer_traffic.hpp"

#include <algorithm>

#include "sim/collective/nic_use.hpp"

namespace foretrain {

namespace {

/// GPUs of a node that reach the same NIC equally well, and leave by the same NICs for every peer.
struct NicGroup {
  int nic = 0;
  /// Bytes per second that collectives reach between GPU and NIC.
  double reached = 0;
  /// NICs by the number of the peer's GPU.
  std::vector<int> leaves_by{};
  std::vector<int> gpus{};
};

/// The input of the functions below.
struct Setting {
  const PeerInput& input;
  const NicUse& nics;
};

/// Returns the rate between a GPU and its NIC; -1 without an adapter or without GPUDirect, when the bytes
/// pass host memory.
double reach_of(const PeerInput& input, GpuPlace place, int nic) {
  const bool has_adapter = input.cluster.node_spec(place.node).nics > 0;
  if (!has_adapter || !input.cluster.gpudirect(place.gpu, nic, place.node)) return -1;
  const Route& route = input.cluster.route_in_node(input.cluster.gpu(place.node, place.gpu),
                                                   input.cluster.nic(place.node, nic));
  return route.bandwidth.per_second * route.collective_efficiency;
}

/// Returns the group of a single GPU.
NicGroup alone(const Setting& setting, int node, int gpu) {
  const PeerInput& input = setting.input;
  const int nic = setting.nics.own_nic({node, gpu});
  NicGroup group{nic, reach_of(input, {node, gpu}, nic), {}, {gpu}};
  for (int peer = 0; peer < input.cluster.node_spec(node).gpus; ++peer)
    group.leaves_by.push_back(setting.nics.of_send({node, gpu}, peer).nic);
  return group;
}

/// Returns the groups of a node of this shape; `merge` joins GPUs that are alike.
std::vector<NicGroup> nic_groups(const Setting& setting, const nccl::NodeShape& shape, int node, bool merge) {
  std::vector<NicGroup> groups;
  for (const int gpu : shape.gpus) {
    NicGroup group = alone(setting, node, gpu);
    const auto known = std::ranges::find_if(groups, [&](const NicGroup& other) {
      return other.nic == group.nic && other.reached == group.reached && other.leaves_by == group.leaves_by;
    });
    if (merge && known != groups.end())
      known->gpus.push_back(gpu);
    else
      groups.push_back(std::move(group));
  }
  return groups;
}

/// The groups that a pair of nodes exchanges data by. They are single GPUs at the job's first node and at the
/// first node of each shape, whose own links count; elsewhere they are merged by NIC.
class NodeGroups {
 public:
  explicit NodeGroups(const Setting& setting)
      : job_(setting.input.job), first_(setting.input.job.shapes.size(), -1) {
    for (std::size_t s = 0; s < job_.shapes.size(); ++s) {
      const nccl::NodeShape& shape = job_.shapes[s];
      const int node = std::ranges::find(job_.nodes, static_cast<int>(s), &nccl::JobNode::shape)->node;
      merged_.push_back(nic_groups(setting, shape, node, true));
      single_.push_back(nic_groups(setting, shape, node, false));
    }
    for (const nccl::JobNode& node : job_.nodes) {
      int& first = first_[static_cast<std::size_t>(node.shape)];
      if (first < 0 || node.node < first) first = node.node;
    }
  }
  const std::vector<NicGroup>& of(const nccl::JobNode& node) const {
    const std::size_t shape = static_cast<std::size_t>(node.shape);
    return first_[shape] == node.node || &node == &job_.nodes.front() ? single_[shape] : merged_[shape];
  }

 private:
  const nccl::Job& job_;
  /// The first node of each shape, as numbered in the cluster.
  std::vector<int> first_;
  std::vector<std::vector<NicGroup>> merged_, single_;
};

/// Returns the GPU of each rank.
std::vector<GpuPlace> places_of(const nccl::Job& job) {
  std::vector<GpuPlace> places(static_cast<std::size_t>(job.input.job.ranks));
  for (const nccl::JobNode& node : job.nodes) {
    const std::vector<int>& gpus = job.shape_of(node).gpus;
    for (std::size_t i = 0; i < gpus.size(); ++i)
      places[static_cast<std::size_t>(job.ranks_of(node)[i])] = {node.node, gpus[i]};
  }
  return places;
}

/// Returns the edge between GPUs of different nodes, by NCCL's rules for sends.
TrafficEdge over_network(const NicUse& nics, GpuPlace from, GpuPlace to, double share) {
  const NicUse::Send send = nics.of_send(from, to.gpu);
  return {from, to, send.nic, nics.own_nic(to), share, send.exit};
}

/// Returns the edge between two GPUs of the job.
TrafficEdge edge_between(const NicUse& nics, GpuPlace from, GpuPlace to, double share) {
  return from.node == to.node ? TrafficEdge{from, to, -1, -1, share, {}}
                              : over_network(nics, from, to, share);
}

/// Visits all pairs inside the first node of each shape.
void visit_alltoall_inside(const PeerInput& input, double share, const EdgeVisitor& visit) {
  for (std::size_t s = 0; s < input.job.shapes.size(); ++s) {
    const std::vector<int>& gpus = input.job.shapes[s].gpus;
    const auto node = std::ranges::find(input.job.nodes, static_cast<int>(s), &nccl::JobNode::shape);
    for (const int from : gpus) {
      for (const int to : gpus) {
        if (from != to) visit({{node->node, from}, {node->node, to}, -1, -1, share, {}});
      }
    }
  }
}

/// Visits the pairs of an alltoall. An edge stands for all pairs of its two groups, and for the partners that
/// are left out.
void visit_alltoall(const PeerInput& input, const EdgeVisitor& visit) {
  const std::vector<nccl::JobNode>& nodes = input.job.nodes;
  const double share = peer_share(input.op, input.job.input.job.ranks);
  visit_alltoall_inside(input, share, visit);
  if (nodes.size() < 2) return;
  const NicUse nics(input.cluster, input.job);
  const NodeGroups groups({input, nics});
  const std::size_t others = nodes.size() - 1, partners = std::min<std::size_t>(others, kMostPeerNodes);
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t i = 0; i < partners; ++i) {
      const nccl::JobNode &from = nodes[a], &to = nodes[(a + 1 + i * others / partners) % nodes.size()];
      const double stands_for = static_cast<double>(others) / static_cast<double>(partners);
      for (const NicGroup& out : groups.of(from)) {
        for (const NicGroup& in : groups.of(to)) {
          const double pairs = static_cast<double>(out.gpus.size() * in.gpus.size()) * stands_for;
          visit(edge_between(nics, {from.node, out.gpus.front()}, {to.node, in.gpus.front()}, share * pairs));
        }
      }
    }
  }
}

}  // namespace

double peer_share(CollectiveOp op, int ranks) {
  return op == CollectiveOp::sendrecv ? 1 : 1.0 / std::max(1, ranks);
}

void visit_peers(const PeerInput& input, const EdgeVisitor& visit) {
  const int ranks = input.job.input.job.ranks;
  if (ranks < 2) return;
  if (input.op == CollectiveOp::alltoall) return visit_alltoall(input, visit);
  const std::vector<GpuPlace> places = places_of(input.job);
  const double share = peer_share(input.op, ranks);
  const NicUse nics(input.cluster, input.job);
  for (int rank = 0; rank < ranks; ++rank) {
    const GpuPlace here = places[static_cast<std::size_t>(rank)];
    if (input.op == CollectiveOp::sendrecv)
      visit(edge_between(nics, here, places[static_cast<std::size_t>((rank + 1) % ranks)], share));
    else if (rank != 0 && input.op == CollectiveOp::gather)
      visit(edge_between(nics, here, places[0], share));
    else if (rank != 0 && input.op == CollectiveOp::scatter)
      visit(edge_between(nics, places[0], here, share));
  }
}

}  // namespace foretrain
