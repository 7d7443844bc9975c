// What NCCL would make of jobs on small clusters: channels, orders, trees and choices.
#include "sim/collective/nccl/job.hpp"

#include <algorithm>

#include "sim/collective/nccl/graph_search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace job_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

Job job_on(const ClusterSpec& spec, int gpus, const char* version = "2.20.5") {
  Settings settings;
  settings.version = parse_version(version).value();
  const int nodes = std::max(1, (gpus + spec.node.gpus - 1) / spec.node.gpus);
  return inspect(Cluster::build(spec, nodes), place_packed(gpus, spec.node.gpus), settings);
}

bool is_permutation_of_ranks(std::vector<int> order, int ranks) {
  std::ranges::sort(order);
  for (int rank = 0; rank < ranks; ++rank) {
    if (order[static_cast<std::size_t>(rank)] != rank) return false;
  }
  return static_cast<int>(order.size()) == ranks;
}

/// Everyone has one parent that knows it, but one root.
void check_tree(const std::vector<TreeLinks>& links) {
  int roots = 0, children = 0;
  for (std::size_t rank = 0; rank < links.size(); ++rank) {
    if (links[rank].up < 0) ++roots;
    for (const int child : links[rank].down) {
      if (child < 0) continue;
      ++children;
      CHECK(links[static_cast<std::size_t>(child)].up == static_cast<int>(rank));
    }
  }
  CHECK(roots == 1);
  CHECK(children == static_cast<int>(links.size()) - 1);
}

}  // namespace

TEST_CASE("NCCL's search books an NVSwitch node's 240 GB/s as six channels of 40, run twice at 20") {
  const Job job = job_on(nvswitch_node(), 8);
  CHECK(job.input.ring.channels == 12);
  CHECK(job.input.ring.bw_intra == 20);
  CHECK(job.coll_channels == 24);
  CHECK(job.p2p_channels == 32);
  CHECK(job.ring_order(0) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("NCCL's search finds the six rings of a DGX-1") {
  const Job job = job_on(cube_mesh_node(), 8);
  CHECK(job.input.ring.channels * job.input.ring.bw_intra == 120);  // six links of 20
  CHECK(job.input.ring.type_intra == PathClass::nvl);
  for (int channel = 0; channel < job.coll_channels; ++channel)
    CHECK(is_permutation_of_ranks(job.ring_order(channel), 8));
}

TEST_CASE("four V100 with two links per pair give six rings of one link's width") {
  // Three of two links' width are impossible: K4 has no three Hamiltonian circles without a common edge.
  const Job job = job_on(mesh_node(4, v100(), nvlink2(), 2), 4, "2.7.8");
  CHECK(job.input.ring.channels == 6);
  CHECK(job.input.ring.bw_intra == 21);
  CHECK(job.coll_channels == 12);
}

TEST_CASE("a PCIe node is one channel in the order of its GPUs") {
  const Job job = job_on(pcie_cluster(1, 4), 4);
  CHECK(job.search_channels == 1);
  CHECK(job.coll_channels == 2);
  CHECK(job.ring_order(0) == std::vector<int>{0, 1, 2, 3});
  CHECK_FALSE(ll128_is_safe(job.input, CollectiveOp::all_reduce, nccl::Algorithm::ring));
}

TEST_CASE("rings over nodes come in and leave by one NIC, and every rank is on every channel") {
  const Job job = job_on(nvlink_cluster(3, 2), 12);
  CHECK(job.input.ring.channels >= 2);
  for (int channel = 0; channel < job.coll_channels; ++channel) {
    CHECK(is_permutation_of_ranks(job.ring_order(channel), 12));
    const ChannelPath& path = job.ring_path(channel, 0);
    CHECK(path.nic_in >= 0);
    CHECK(path.nic_in == path.nic_out);
    check_tree(job.tree_links(channel));
  }
  CHECK(job.shapes.size() == 1);
}

TEST_CASE("a node with fewer GPUs is a shape of its own, and the slower one sets the figures") {
  const Job job = job_on(nvlink_cluster(3, 2), 10);
  REQUIRE(job.shapes.size() == 2);
  CHECK(job.nodes[2].shape == 1);
  CHECK(job.input.ring.channels == std::min(job.shapes[0].ring.channels, job.shapes[1].ring.channels));
  for (int channel = 0; channel < job.coll_channels; ++channel) {
    CHECK(is_permutation_of_ranks(job.ring_order(channel), 10));
    check_tree(job.tree_links(channel));
  }
}

TEST_CASE("channel limits clip what runs") {
  Settings settings;
  settings.max_channels = 4;
  const Job job = inspect(Cluster::build(nvswitch_node(), 1), place_packed(8, 8), settings);
  CHECK(job.coll_channels == 4);
  CHECK(job.search_channels == 2);
  settings.max_channels = 0, settings.min_channels = 30;
  CHECK(inspect(Cluster::build(nvswitch_node(), 1), place_packed(8, 8), settings).coll_channels == 30);
}

TEST_CASE("a forced algorithm is planned, and one that cannot run gives way to NCCL's choice") {
  Settings settings;
  settings.algorithm = nccl::Algorithm::tree;
  const Cluster cluster = Cluster::build(nvswitch_node(), 1);
  CHECK(inspect(cluster, place_packed(8, 8), settings)
            .plan(CollectiveOp::all_reduce, 1 << 30)
            .choice.algorithm == nccl::Algorithm::tree);
  settings.algorithm = nccl::Algorithm::nvls;
  const Job job = inspect(cluster, place_packed(8, 8), settings);
  const Plan plan = job.plan(CollectiveOp::all_reduce, 1 << 30);
  CHECK(plan.choice.algorithm == nccl::Algorithm::ring);
  CHECK_THAT(job.reason(CollectiveOp::all_reduce, 1 << 30, plan),
             ContainsSubstring("24 channels of 544 threads"));
}

TEST_CASE("jobs of one rank and GPUs without any path are taken in order") {
  const Job single = job_on(pcie_cluster(1, 4), 1);
  CHECK(single.coll_channels >= 1);
  ClusterSpec apart = pcie_cluster(1, 4);
  apart.node.cpus = 2;
  for (NodeLink& link : apart.node.links) {
    if (link.a == "gpu3") link.b = "cpu1";
  }
  apart.node.host.family = HostFamily::arm;
  apart.node.links.back().b = "cpu1";
  const NodeMap map =
      NodeMap::build({apart.node, apart.fabric.link, std::vector<int>{0, 1, 2, 3}, false, Settings{}});
  const GraphResult ring = search_graph(map, {Pattern::ring, 1, 16, CrossNic::automatic, Version{}});
  REQUIRE(ring.paths.size() == static_cast<std::size_t>(ring.channels));
  CHECK(ring.paths[0].gpus.size() == 4);
}

TEST_CASE("searching a hostile node comes to an end, with an order of all ranks") {
  // 64 GPUs, each with one NVLink to GPUs at odd distances: many ways, no regular one.
  ClusterSpec spec = plain_node(64, v100());
  for (int g = 0; g < 64; ++g) {
    for (const int step : {1, 5, 11, 23}) {
      const int other = (g * 7 + step * (g % 3 + 1)) % 64;
      if (g < other)
        spec.node.links.push_back(
            connect("gpu" + std::to_string(g), "gpu" + std::to_string(other), nvlink2(), 1));
    }
  }
  const Job job = job_on(spec, 64);
  CHECK(is_permutation_of_ranks(job.ring_order(0), 64));
}

TEST_CASE("what a network plug-in sets holds between nodes, and where the user set nothing") {
  ClusterSpec spec = nvlink_cluster(2, 2);
  spec.fabric.link.simple_only = spec.fabric.link.ring_only = true;
  spec.fabric.link.nccl_buffer = {8 << 20};
  const Plan plan = job_on(spec, 8).plan(CollectiveOp::all_reduce, 1 << 10);
  CHECK(plan.choice.algorithm == Algorithm::ring);
  CHECK(plan.choice.protocol == Protocol::simple);
  CHECK(job_on(spec, 8).settings.buffer_bytes == 8 << 20);
  CHECK(job_on(spec, 4).plan(CollectiveOp::all_reduce, 1 << 10).choice.protocol == Protocol::ll);
  Settings own;
  own.protocol = Protocol::ll, own.algorithm = Algorithm::tree, own.buffer_bytes = 1 << 20;
  const Job job = inspect(Cluster::build(spec, 2), place_packed(8, 4), own);
  CHECK(job.plan(CollectiveOp::all_reduce, 1 << 10).choice.protocol == Protocol::ll);
  CHECK(job.plan(CollectiveOp::all_reduce, 1 << 10).choice.algorithm == Algorithm::tree);
  CHECK(job.settings.buffer_bytes == 1 << 20);
}

// facts: 2.18 and later add it to a step between nodes, and once more for Simple; a tree over two nodes has
// two.
TEST_CASE("the latency that a plug-in reports is in NCCL's forecast of every step between nodes") {
  ClusterSpec spec = nvlink_cluster(2, 2);
  const Job silent = job_on(spec, 8);
  spec.fabric.link.nccl_latency = microseconds(75);
  const Job told = job_on(spec, 8);
  const auto more = [&](Algorithm algorithm, Protocol protocol) {
    return told.table.at(CollectiveOp::all_reduce, algorithm, protocol).latency_us -
           silent.table.at(CollectiveOp::all_reduce, algorithm, protocol).latency_us;
  };
  CHECK(more(Algorithm::tree, Protocol::ll) == Approx(2 * 75));
  CHECK(more(Algorithm::tree, Protocol::simple) == Approx(2 * 2 * 75));
  CHECK(more(Algorithm::ring, Protocol::ll) == Approx(2 * 2 * 75));  // 2.12 to 2.22 count 2N steps
}

}  // namespace job_test
