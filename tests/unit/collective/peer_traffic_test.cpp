// Who sends to whom, over which NICs, and how much: alltoall, sendrecv, gather, scatter.
#include "sim/collective/peer_traffic.hpp"

#include <map>

#include "sim/cluster/path_class.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace peer_traffic_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::vector<TrafficEdge> edges_of(const OneJob& job, CollectiveOp op) {
  std::vector<TrafficEdge> edges;
  visit_peers({job.cluster, job.communicator.job(), op},
              [&](const TrafficEdge& edge) { edges.push_back(edge); });
  return edges;
}

}  // namespace

TEST_CASE("a rank sends a share of its message to each, the whole of it to a neighbour") {
  CHECK(peer_share(CollectiveOp::alltoall, 8) == 0.125);
  CHECK(peer_share(CollectiveOp::gather, 4) == 0.25);
  CHECK(peer_share(CollectiveOp::scatter, 4) == 0.25);
  CHECK(peer_share(CollectiveOp::sendrecv, 8) == 1);
}

TEST_CASE("one rank has no peers") {
  const OneJob job(nvlink_cluster(1, 1), 1);
  for (const CollectiveOp op : kCollectiveOps) CHECK(edges_of(job, op).empty());
}

TEST_CASE("sendrecv goes to the next rank, from the last to the first, by the NIC of the receiver's rail") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const std::vector<TrafficEdge> edges = edges_of(job, CollectiveOp::sendrecv);
  REQUIRE(edges.size() == 8);
  for (int rank = 0; rank < 8; ++rank) {
    const TrafficEdge& edge = edges[static_cast<std::size_t>(rank)];
    const int next = (rank + 1) % 8;
    CHECK(edge.from == GpuPlace{rank / 4, rank % 4});
    CHECK(edge.to == GpuPlace{next / 4, next % 4});
    CHECK(edge.share == 1);
    const bool crosses = rank % 4 == 3;
    CHECK(edge.from_nic == (crosses ? 0 : -1));  // GPU 3 is at nic1, GPU 0 at nic0: PXN
    CHECK(edge.exit == NodeExit{crosses ? 0 : -1, false});
    CHECK(edge.to_nic == (crosses ? 0 : -1));
  }
}

TEST_CASE("gather ends at rank 0, scatter begins there") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const std::vector<TrafficEdge> gather = edges_of(job, CollectiveOp::gather),
                                 scatter = edges_of(job, CollectiveOp::scatter);
  REQUIRE(gather.size() == 7);
  REQUIRE(scatter.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(gather[i].to == GpuPlace{0, 0});
    CHECK(scatter[i].from == GpuPlace{0, 0});
    CHECK(gather[i].from == scatter[i].to);
    CHECK(gather[i].share == 0.125);
    CHECK(gather[i].from_nic == gather[i].to_nic);  // PXN, at both ends
    CHECK(scatter[i].from_nic == scatter[i].to_nic);
  }
}

TEST_CASE("alltoall on one node is every ordered pair") {
  const OneJob job(nvswitch_node(), 8);
  const std::vector<TrafficEdge> edges = edges_of(job, CollectiveOp::alltoall);
  CHECK(edges.size() == 56);
  for (const TrafficEdge& edge : edges) CHECK(edge.share == 0.125);
}

TEST_CASE("alltoall between nodes carries all pairs' shares") {
  for (const int nics : {1, 2}) {
    const OneJob job(nvlink_cluster(3, nics), 12);
    std::map<std::pair<int, int>, double> between;
    for (const TrafficEdge& edge : edges_of(job, CollectiveOp::alltoall)) {
      if (edge.from.node == edge.to.node) continue;
      between[{edge.from.node, edge.to.node}] += edge.share;
      CHECK(edge.from_nic == nearest_nic(job.cluster, edge.to.gpu));  // PXN
      CHECK(edge.to_nic == nearest_nic(job.cluster, edge.to.gpu));
    }
    CHECK(between.size() == 6);
    for (const auto& [nodes, share] : between) CHECK(share == Approx(4 * 4 / 12.0));
  }
}

TEST_CASE("beyond the most partners every node sends as much to fewer") {
  const int nodes = kMostPeerNodes + 300;
  const OneJob job(star_cluster(nodes, {10e9}), nodes);
  std::vector<double> sent(static_cast<std::size_t>(nodes));
  std::size_t edges = 0;
  visit_peers({job.cluster, job.communicator.job(), CollectiveOp::alltoall}, [&](const TrafficEdge& edge) {
    CHECK_FALSE(edge.from == edge.to);
    sent[static_cast<std::size_t>(edge.from.node)] += edge.share;
    ++edges;
  });
  CHECK(edges == static_cast<std::size_t>(nodes) * kMostPeerNodes);
  CHECK(sent.front() == Approx(static_cast<double>(nodes - 1) / nodes));
  CHECK(sent.back() == Approx(static_cast<double>(nodes - 1) / nodes));
}

}  // namespace peer_traffic_test
