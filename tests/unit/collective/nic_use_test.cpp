// By which NIC and over which relay a message leaves its node, and when the NIC may read a GPU's memory.
#include "sim/collective/nic_use.hpp"

#include <algorithm>

#include "sim/collective/peer_traffic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace nic_use_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

CollectiveSettings of_version(const nccl::Version& version) {
  CollectiveSettings settings;
  settings.nccl.version = version;
  return settings;
}

/// The nodes of h100_cluster() without their NVLinks.
ClusterSpec pcie_cluster(int nodes, double compute_capability) {
  ClusterSpec spec = h100_cluster(nodes);
  std::erase_if(spec.node.links, [](const NodeLink& link) { return link.type.kind == LinkKind::nvlink; });
  spec.node.nvswitches = 0, spec.node.multicast = false;
  spec.node.gpu.compute_capability = compute_capability;
  return spec;
}

NicUse use_in(const OneJob& job) { return {job.cluster, job.communicator.job()}; }

bool reads_from_host(const OneJob& job) { return use_in(job).of_send({0, 0}, 0).exit.from_host; }

}  // namespace

TEST_CASE("PXN sends over NVLink to the GPU beside the receiver's rail") {
  const OneJob job(h100_cluster(2), 16);
  const NicUse use = use_in(job);
  CHECK(use.of_send({0, 2}, 5) == NicUse::Send{5, {5, false}});
  CHECK(use.of_send({0, 5}, 5) == NicUse::Send{5, {-1, false}});
  CHECK(use.relays());
}

TEST_CASE("before NCCL 2.12, without PXN and in a pod every rank uses its own NIC") {
  CollectiveSettings without = of_version({2, 20, 5}), pods = without;
  without.nccl.pxn = false, pods.nccl.isolation = nccl::Isolation::container;
  for (const CollectiveSettings& settings : {of_version({2, 11, 4}), without, pods}) {
    const OneJob job(h100_cluster(2), 16, settings);
    const NicUse use = use_in(job);
    CHECK(use.of_send({0, 2}, 5) == NicUse::Send{2, {-1, false}});
    CHECK(use.of_channel({0, 2}, 5) == NodeExit{});
    CHECK_FALSE(use.relays());
  }
}

TEST_CASE("NCCL_CROSS_NIC=0 without PXN takes the far NIC of the receiver's rail") {
  CollectiveSettings settings;
  settings.nccl.pxn = false, settings.nccl.cross_nic = nccl::CrossNic::never;
  const OneJob job(h100_cluster(2), 16, settings);
  CHECK(use_in(job).of_send({0, 2}, 5) == NicUse::Send{5, {-1, false}});
}

TEST_CASE("a channel that leaves by another GPU's NIC is relayed by that GPU") {
  const OneJob job(h100_cluster(2), 16);
  const NicUse use = use_in(job);
  CHECK(use.of_channel({0, 2}, 5) == NodeExit{5, false});
  CHECK(use.of_channel({0, 5}, 5) == NodeExit{});
}

TEST_CASE("a GPU that the job has not got relays nothing") {
  const OneJob job(h100_cluster(2), place(8, 8, Layout::spread, 2));  // GPUs 0 to 3 of both nodes
  CHECK(use_in(job).of_send({0, 2}, 5) == NicUse::Send{2, {-1, false}});
  CHECK(use_in(job).of_channel({0, 2}, 5) == NodeExit{});
}

TEST_CASE("a relayed way passes the NVLinks of both GPUs and the relay's own leg") {
  const OneJob job(h100_cluster(2), 16);
  const Route direct = job.cluster.route_between_nodes(job.cluster.gpu(0, 5), job.cluster.gpu(1, 5), 5, 5),
              relayed = job.cluster.route_between_nodes(job.cluster.gpu(0, 2), job.cluster.gpu(1, 5), 5, 5,
                                                        {5, false});
  REQUIRE(relayed.links.size() == direct.links.size() + 2);
  CHECK(std::equal(direct.links.begin(), direct.links.end(), relayed.links.begin() + 2));
  CHECK(relayed.latency > direct.latency);
  CHECK(relayed.bandwidth == direct.bandwidth);
}

TEST_CASE("under PXN an alltoall stays on its rails, and as much leaves every NIC") {
  const OneJob job(h100_cluster(3), 24);
  std::vector<double> left(8);
  visit_peers({job.cluster, job.communicator.job(), CollectiveOp::alltoall}, [&](const TrafficEdge& edge) {
    if (edge.from_nic < 0) return;
    CHECK(edge.from_nic == edge.to_nic);
    left[static_cast<std::size_t>(edge.from_nic)] += edge.share;
  });
  for (const double share : left) CHECK(share == Approx(3 * 16 / 24.0));
}

TEST_CASE("a NIC reads out of GPUs with NVLink, of a node with one, and since 2.22 of Ampere and later") {
  const nccl::Version old{2, 21, 5}, newer{2, 22, 3};
  CHECK_FALSE(reads_from_host(OneJob(h100_cluster(2), 16, of_version(old))));
  CHECK(reads_from_host(OneJob(pcie_cluster(2, 8.0), 16, of_version(old))));
  CHECK_FALSE(reads_from_host(OneJob(pcie_cluster(2, 8.0), 16, of_version(newer))));
  CHECK(reads_from_host(OneJob(pcie_cluster(2, 7.5), 16, of_version(newer))));
  CHECK_FALSE(reads_from_host(OneJob(pcie_cluster(2, 7.5), place(2, 8, Layout::spread, 2), of_version(old))));
}

TEST_CASE("what the NIC may not read it takes out of host memory, and writes as before") {
  const OneJob job(pcie_cluster(2, 7.5), 16);
  NodeToNodeRoute way;
  job.cluster.find_route_between_nodes(job.cluster.gpu(0, 0), job.cluster.gpu(1, 0), 0, 0, way, {-1, true});
  CHECK(way.out->staged);
  CHECK_FALSE(way.in->staged);
}

}  // namespace nic_use_test
