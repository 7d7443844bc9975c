// Folding never changes the answer: the links' loads against a twin that sends every edge of every rank by
// itself.
#include <algorithm>

#include "sim/cluster/path_class.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/communicator_traffic.hpp"
#include "sim/collective/nic_use.hpp"
#include "sim/collective/peer_traffic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"
#include "tests/support/one_job.hpp"

namespace traffic_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

/// Seconds per byte that every link of the cluster needs.
class EveryLink {
 public:
  EveryLink(const OneJob& job, std::optional<AlgorithmId> algorithm, Protocol protocol)
      : cluster_(job.cluster), communicator_(job.communicator), seconds_(job.cluster.links().size()) {
    plan_.algorithm = algorithm, plan_.protocol = protocol;
  }

  void send(const Route& route, double share) {
    const bool limited = plan_.protocol == Protocol::ll && route.crosses_network;
    const double wire = limited ? 1 / of(communicator_.costs().network_efficiency, Protocol::ll)
                                : communicator_.wire_bytes(plan_, route);
    for (const LinkId id : route.links) {
      const ClusterLink link = cluster_.links()[id];
      double pace = wire / link.bandwidth.per_second;
      if (limited && is_at_nic(link))
        pace = std::max(pace,
                        1 / low_latency_limit(communicator_.costs(), cluster_.node_spec(0).host).per_second);
      seconds_[id] += share * pace;
    }
  }
  double worst() const { return *std::ranges::max_element(seconds_); }

 private:
  bool is_at_nic(const ClusterLink& link) const {
    const auto is_nic = [this](VertexId vertex) {
      return cluster_.vertices()[vertex].kind == VertexKind::nic;
    };
    return link.kind == LinkKind::network && (is_nic(link.from) || is_nic(link.to));
  }

  const Cluster& cluster_;
  const Communicator& communicator_;
  CollectivePlan plan_;
  std::vector<double> seconds_;
};

/// Where the ranks are, and the way between any two of them.
struct Ranks {
  Ranks(const OneJob& job, const Placement& placement)
      : cluster(job.cluster),
        nccl(job.communicator.job()),
        places(placement.ranks),
        nics(job.cluster, job.communicator.job()) {}

  const GpuPlace& place(int rank) const { return places[static_cast<std::size_t>(rank)]; }
  int node_of(int rank) const {
    return static_cast<int>(std::ranges::find(nccl.nodes, place(rank).node, &nccl::JobNode::node) -
                            nccl.nodes.begin());
  }
  /// On a channel.
  Route route(int from, int to, int from_nic, int to_nic) const {
    if (place(from).node == place(to).node) return between(from, to, from_nic, to_nic, {});
    return between(from, to, from_nic, to_nic, nics.of_channel(place(from), from_nic));
  }
  Route sent(int from, int to) const {
    if (place(from).node == place(to).node) return between(from, to, 0, 0, {});
    const NicUse::Send send = nics.of_send(place(from), place(to).gpu);
    return between(from, to, send.nic, nics.own_nic(place(to)), send.exit);
  }
  Route between(int from, int to, int from_nic, int to_nic, NodeExit exit) const {
    const VertexId a = cluster.gpu(place(from).node, place(from).gpu),
                   b = cluster.gpu(place(to).node, place(to).gpu);
    return place(from).node == place(to).node ? cluster.route(a, b)
                                              : cluster.route_between_nodes(a, b, from_nic, to_nic, exit);
  }

  const Cluster& cluster;
  const nccl::Job& nccl;
  std::vector<GpuPlace> places;
  NicUse nics;
};

double ring_twin(const OneJob& job, const Ranks& ranks, Protocol protocol) {
  EveryLink links(job, AlgorithmId::ring, protocol);
  const int channels = ranks.nccl.search_channels;
  for (int c = 0; c < channels; ++c) {
    const std::vector<int> order = ranks.nccl.ring_order(c);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int from = order[i], to = order[(i + 1) % order.size()];
      const int out = ranks.nccl.ring_path(c, ranks.node_of(from)).nic_out,
                in = ranks.nccl.ring_path(c, ranks.node_of(to)).nic_in;
      links.send(ranks.route(from, to, out, in), 1.0 / channels);
    }
  }
  return links.worst();
}

/// The second GPU of a tree's way through a node is at the NIC by which rings leave.
int tree_nic(const Ranks& ranks, int channel, int rank) {
  const nccl::ChannelPath& path = ranks.nccl.tree_path(channel, ranks.node_of(rank));
  const bool second = path.gpus.size() > 1 && path.gpus[1] == ranks.place(rank).gpu;
  return second && path.nic_out >= 0 ? path.nic_out : path.nic_in;
}

double tree_twin(const OneJob& job, const Ranks& ranks, Protocol protocol) {
  EveryLink links(job, AlgorithmId::tree, protocol);
  const int paths = ranks.nccl.search_channels, second = std::max(1, ranks.nccl.coll_channels / 2);
  for (int path = 0; path < paths; ++path) {
    for (const int first_of_tree : {0, second}) {
      int channel = first_of_tree;  // the first of this tree that follows the path
      while (channel % paths != path) ++channel;
      const std::vector<nccl::TreeLinks> tree = ranks.nccl.tree_links(channel);
      for (int rank = 0; rank < static_cast<int>(tree.size()); ++rank) {
        const int up = tree[static_cast<std::size_t>(rank)].up;
        if (up < 0) continue;
        const int low_nic = tree_nic(ranks, channel, rank), high_nic = tree_nic(ranks, channel, up);
        links.send(ranks.route(rank, up, low_nic, high_nic), 0.5 / paths);
        links.send(ranks.route(up, rank, high_nic, low_nic), 0.5 / paths);
      }
    }
  }
  return links.worst();
}

/// Whether a rank sends to another one.
bool talks(CollectiveOp op, int from, int to, int ranks) {
  if (op == CollectiveOp::sendrecv) return to == (from + 1) % ranks;
  if (op == CollectiveOp::gather) return to == 0;
  return op == CollectiveOp::alltoall || from == 0;
}

double peers_twin(const OneJob& job, const Ranks& ranks, CollectiveOp op) {
  EveryLink links(job, std::nullopt, Protocol::simple);
  const int n = job.communicator.size();
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to || !talks(op, from, to, n)) continue;
      links.send(ranks.sent(from, to), peer_share(op, n));
    }
  }
  return links.worst();
}

struct Case {
  ClusterSpec spec;
  Placement placement;
};

/// `counts`: GPUs of the job on each node.
Placement uneven(std::initializer_list<int> counts) {
  Placement placement;
  placement.nodes = static_cast<int>(counts.size());
  int node = 0;
  for (const int count : counts) {
    for (int gpu = 0; gpu < count; ++gpu) placement.ranks.push_back({node, gpu});
    ++node;
  }
  return placement;
}

/// Nodes with NVLink and two NICs, then others; slower NICs where the others have one.
ClusterSpec with_others(int nodes, NodeSpec other, int others) {
  ClusterSpec spec = nvlink_cluster(nodes + others, 2);
  spec.more_nodes.push_back({"others", others, std::move(other)});
  if (spec.more_nodes.front().node.nics == 1) {
    spec.more_nodes.front().link = hdr100();
    spec.more_nodes.front().link->bandwidth = spec.fabric.link.bandwidth * 0.4;
  }
  return spec;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  ClusterSpec staged = pcie_cluster(4, 4), two_sockets = two_socket_node(2);
  staged.node.peer_access = false;
  two_sockets.node.peer_access = false;
  for (const int gpus : {2, 3, 4, 8, 12, 16}) all.push_back({nvlink_cluster(4, 2), place_packed(gpus, 4)});
  for (const int gpus : {2, 4, 16})
    all.push_back({nvlink_cluster(4, 1), place_packed(gpus, 4)}),
        all.push_back({staged, place_packed(gpus, 4)});
  for (const int gpus : {2, 5, 8}) all.push_back({cube_mesh_node(), place_packed(gpus, 8)});
  for (const int nodes : {2, 3, 4}) all.push_back({star_cluster(nodes, {10e9}), place_packed(nodes, 1)});
  for (const int gpus : {8, 16, 32}) all.push_back({h100_cluster(4), place_packed(gpus, 8)});
  all.push_back({two_sockets, place_packed(4, 4)});
  all.push_back({nvswitch_node(), place_packed(8, 8)});
  all.push_back({pcie_cluster(3, 2), place_packed(6, 2)});
  all.push_back({nvlink_cluster(4, 2), uneven({4, 2, 4})});
  all.push_back({nvlink_cluster(4, 1), uneven({1, 4, 4, 3})});
  all.push_back({nvlink_cluster(3, 2), uneven({2, 3})});
  for (const NodeSpec& other : {nvlink_cluster(1, 1).node, pcie_cluster(1, 4).node}) {
    all.push_back({with_others(2, other, 2), place_packed(16, 4)});
    all.push_back({with_others(1, other, 2), uneven({2, 4, 3})});
  }
  Placement backwards = place_packed(12, 4);
  std::ranges::reverse(backwards.ranks);
  all.push_back({nvlink_cluster(3, 1), backwards});
  for (const ClusterSpec& spec : fabric_examples())
    all.push_back({spec, place_packed(std::min(4, spec.nodes) * 4, 4)});
  return all;
}

std::string text_of(const Case& one) {
  std::string text = one.spec.name + ":";
  for (const GpuPlace& place : one.placement.ranks)
    text += " " + std::to_string(place.node) + "." + std::to_string(place.gpu);
  return text;
}

}  // namespace

TEST_CASE("rings folded by nodes and channels load the fullest link as every rank's edges do") {
  for (const Case& one : cases()) {
    for (const Protocol protocol : kProtocols) {
      const OneJob job(one.spec, one.placement, forced(AlgorithmId::ring, protocol));
      const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
      if (plan.algorithm != AlgorithmId::ring || plan.protocol != protocol) continue;
      INFO(text_of(one) << ", " << name_of(protocol));
      CHECK(plan.bottleneck.seconds_per_byte / ring_twin(job, Ranks(job, one.placement), protocol) ==
            Approx(1).epsilon(1e-9));
    }
  }
}

TEST_CASE("trees folded by nodes and channels load the fullest link as every rank's edges do") {
  for (const Case& one : cases()) {
    for (const Protocol protocol : kProtocols) {
      const OneJob job(one.spec, one.placement, forced(AlgorithmId::tree, protocol));
      const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
      if (plan.algorithm != AlgorithmId::tree || plan.protocol != protocol) continue;
      INFO(text_of(one) << ", " << name_of(protocol));
      CHECK(plan.bottleneck.seconds_per_byte / tree_twin(job, Ranks(job, one.placement), protocol) ==
            Approx(1).epsilon(1e-9));
    }
  }
}

TEST_CASE("sends folded by NICs and nodes load the fullest link as every pair does") {
  for (const Case& one : cases()) {
    const OneJob job(one.spec, one.placement);
    for (const CollectiveOp op :
         {CollectiveOp::alltoall, CollectiveOp::sendrecv, CollectiveOp::gather, CollectiveOp::scatter}) {
      const CollectivePlan plan = job.plan(op, 256 << 20);  // in a node smaller messages go by LL
      REQUIRE(plan.protocol == Protocol::simple);
      INFO(text_of(one) << ", " << name_of(op));
      const double twin = peers_twin(job, Ranks(job, one.placement), op);
      CHECK(plan.bottleneck.seconds_per_byte / twin == Approx(1).epsilon(1e-9));
    }
  }
}

}  // namespace traffic_laws
