// The edges of rings, trees and NVLS heads, and what they put on every link.
#include "sim/collective/nccl_traffic.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/collective/nccl/double_tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace nccl_traffic_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

nccl::ChannelPath path_of(std::vector<int> gpus, int nic = -1) { return {std::move(gpus), nic, nic}; }

std::vector<TrafficEdge> edges_of(const std::function<void(const EdgeVisitor&)>& visit) {
  std::vector<TrafficEdge> edges;
  visit([&](const TrafficEdge& edge) { edges.push_back(edge); });
  return edges;
}

std::vector<TrafficEdge> ring_edges(const OneJob& job, IdleEdge idle = IdleEdge::none, int root = 0) {
  const Communicator& communicator = job.communicator;
  return edges_of([&](const EdgeVisitor& visit) {
    visit_ring({communicator.job(), communicator.paths(nccl::Pattern::ring), nccl::Pattern::ring}, idle, root,
               visit);
  });
}

std::vector<TrafficEdge> tree_edges(const OneJob& job) {
  const Communicator& communicator = job.communicator;
  const nccl::Pattern pattern = communicator.job().input.tree.pattern;
  return edges_of([&](const EdgeVisitor& visit) {
    visit_trees({communicator.job(), communicator.paths(pattern), pattern}, visit);
  });
}

/// Shares by pair of GPUs of node 0.
std::map<std::pair<int, int>, double> pairs_inside(const std::vector<TrafficEdge>& edges) {
  std::map<std::pair<int, int>, double> pairs;
  for (const TrafficEdge& edge : edges) {
    if (edge.from_nic < 0) pairs[{edge.from.gpu, edge.to.gpu}] += edge.share;
  }
  return pairs;
}

}  // namespace

TEST_CASE("channels share a message evenly, equal ones are one path") {
  const std::vector<nccl::ChannelPath> channels{path_of({0, 1}), path_of({1, 0}), path_of({0, 1}),
                                                path_of({1, 0})};
  const std::vector<SharedPath> merged = share_paths(channels, 3, true);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].path == channels[0]);
  CHECK(merged[0].share == Approx(2.0 / 3));
  CHECK(merged[1].share == Approx(1.0 / 3));
  CHECK(share_paths(channels, 3, false).size() == 3);
  CHECK(share_paths(channels, 9, false).size() == 4);  // no more than there are
  CHECK(share_paths(channels, 0, false).size() == 1);  // one at least
  CHECK(share_paths({}, 4, true).empty());
}

TEST_CASE("equal ways through a node over different NICs stay apart") {
  CHECK(share_paths({path_of({0, 1}, 0), path_of({0, 1}, 1)}, 2, true).size() == 2);
}

TEST_CASE("the rings of a DGX-1 load each of its NVLinks evenly") {
  const OneJob job(cube_mesh_node(), 8);
  const auto pairs = pairs_inside(ring_edges(job));
  double total = 0;
  for (const NodeLink& link : cube_mesh_node().node.links) {
    if (link.type.kind != LinkKind::nvlink) continue;
    const int a = link.a.back() - '0', b = link.b.back() - '0';
    // 24 links with two directions each carry six rings of eight edges: a sixth of the message on every link
    // and direction.
    for (const auto& pair : {std::pair{a, b}, {b, a}}) {
      INFO("gpu" << pair.first << " to gpu" << pair.second);
      REQUIRE(pairs.contains(pair));
      CHECK(pairs.at(pair) == Approx(link.count / 6.0));
      total += pairs.at(pair);
    }
  }
  CHECK(total == Approx(8));  // every byte passes all eight edges of its ring
}

TEST_CASE("a ring gives every GPU one whole message to send and one to receive") {
  for (const ClusterSpec& spec :
       {cube_mesh_node(), nvswitch_node(), pcie_cluster(1, 4), nvlink_cluster(1, 2)}) {
    const OneJob job(spec, spec.node.gpus);
    std::vector<double> sent(8), received(8);
    for (const TrafficEdge& edge : ring_edges(job)) {
      sent[static_cast<std::size_t>(edge.from.gpu)] += edge.share;
      received[static_cast<std::size_t>(edge.to.gpu)] += edge.share;
    }
    for (int gpu = 0; gpu < spec.node.gpus; ++gpu) {
      CHECK(sent[static_cast<std::size_t>(gpu)] == Approx(1));
      CHECK(received[static_cast<std::size_t>(gpu)] == Approx(1));
    }
  }
}

TEST_CASE("a chain on one node leaves the edges into its root, or out of it, idle") {
  const OneJob job(cube_mesh_node(), 8);
  const auto all = ring_edges(job);
  for (const int root : {0, 5}) {
    const auto from_root = ring_edges(job, IdleEdge::into_root, root),
               to_root = ring_edges(job, IdleEdge::out_of_root, root);
    CHECK(std::ranges::none_of(from_root, [&](const TrafficEdge& edge) { return edge.to.gpu == root; }));
    CHECK(std::ranges::none_of(to_root, [&](const TrafficEdge& edge) { return edge.from.gpu == root; }));
    CHECK(from_root.size() == to_root.size());
    CHECK(from_root.size() < all.size());
  }
}

TEST_CASE(
    "rings of several nodes go from each node to the next, and every node passes on the whole message") {
  const OneJob job(nvlink_cluster(3, 2), 12);
  std::map<std::pair<int, int>, double> between;
  std::set<int> nics;
  for (const TrafficEdge& edge : ring_edges(job)) {
    if (edge.from_nic < 0) {
      CHECK(edge.from.node == 0);  // the others do the same
      continue;
    }
    between[{edge.from.node, edge.to.node}] += edge.share;
    nics.insert(edge.from_nic), nics.insert(edge.to_nic);
  }
  CHECK(between.size() == 3);
  for (const auto& pair : {std::pair{0, 1}, {1, 2}, {2, 0}}) CHECK(between.at(pair) == Approx(1));
  CHECK(nics == std::set{0, 1});
}

TEST_CASE("trees send every byte up and down between neighbours of a node") {
  const OneJob job(nvswitch_node(), 8);
  const auto edges = tree_edges(job);
  double up = 0;
  const auto pairs = pairs_inside(edges);
  for (const auto& [pair, share] : pairs) {
    CHECK(pairs.at({pair.second, pair.first}) == Approx(share));
    up += share;
  }
  CHECK(up == Approx(2 * 7));  // seven edges, both ways
}

TEST_CASE("between nodes each of two trees carries half of the message on every edge, both ways") {
  for (const int nodes : {2, 3, 4, 7}) {
    const OneJob job(nvlink_cluster(nodes, 2), 4 * nodes);
    std::map<std::pair<int, int>, double> between, expected;
    for (const TrafficEdge& edge : tree_edges(job)) {
      if (edge.from_nic >= 0) between[{edge.from.node, edge.to.node}] += edge.share;
    }
    for (int node = 0; node < nodes; ++node) {
      const nccl::DoubleTreePlace places = nccl::double_tree_place(node, nodes);
      for (const int parent : {places.first.parent, places.second.parent}) {
        if (parent < 0) continue;
        expected[{node, parent}] += 0.5;
        expected[{parent, node}] += 0.5;
      }
    }
    INFO(nodes << " nodes");
    REQUIRE(between.size() == expected.size());
    for (const auto& [pair, share] : expected) CHECK(between.at(pair) == Approx(share));
  }
}

TEST_CASE("NVLS heads of several nodes talk to their likes only") {
  const OneJob job(h100_cluster(2), 16);
  const Communicator& communicator = job.communicator;
  const auto& paths = communicator.paths(nccl::Pattern::nvls);
  REQUIRE_FALSE(paths.front().empty());
  const auto edges = edges_of([&](const EdgeVisitor& visit) {
    visit_heads({communicator.job(), paths, nccl::Pattern::nvls}, visit);
  });
  double total = 0;
  for (const TrafficEdge& edge : edges) {
    CHECK(edge.from.gpu == edge.to.gpu);
    CHECK(edge.from_nic == edge.to_nic);
    CHECK(edge.from.node != edge.to.node);
    total += edge.share;
  }
  CHECK(total == Approx(2));  // the message both ways: half of it in each of two trees of one edge
}

}  // namespace nccl_traffic_test
