// Constants of GPUs, hosts and links put into a cluster: a link's stand wherever the link stands.
#include "sim/cluster/calibrated_cluster.hpp"

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace calibrated_cluster_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Calibration with(const std::string& name, double value) {
  Calibration calibration;
  calibration.constants.push_back({name, value, 0.05, 0, 0, 3, 0.01});
  return calibration;
}

/// Two nodes on a graph of one switch, all of the same network link.
ClusterSpec graph_cluster() {
  ClusterSpec spec = star_cluster(2, {12.3e9});
  spec.fabric.kind = "explicit";
  spec.fabric.uplink = spec.fabric.link;
  for (const char* end : {"node0", "node1"})
    spec.fabric.edit<ExplicitFabric>().graph.push_back({end, "switch0", spec.fabric.link, 1, {}});
  return spec;
}

}  // namespace

TEST_CASE("a constant is found by its whole name") {
  const Calibration calibration = with("gpu.memory_efficiency", 0.7);
  REQUIRE(calibration.find("gpu.memory_efficiency") != nullptr);
  CHECK(calibration.find("gpu.memory_efficiency")->value == 0.7);
  CHECK(calibration.find("gpu.memory") == nullptr);
  CHECK(calibration.find("") == nullptr);
  CHECK_FALSE(calibration.empty());
  CHECK(Calibration{}.empty());
}

TEST_CASE("fitted constants replace those of the GPU and the host") {
  Calibration calibration = with("gpu.memory_efficiency", 0.7);
  calibration.constants.push_back({"gpu.staging_share", 0.5, 0, 0, 0, 0, 0});
  calibration.constants.push_back({"host.slowdown", 2.5, 0, 0, 0, 0, 0});
  calibration.constants.push_back({"host.memory_bandwidth", 7e9, 0, 0, 0, 0, 0});
  const ClusterSpec before = nvlink_cluster(2, 2), after = calibrated(before, calibration);
  CHECK(after.node.gpu.memory_efficiency == 0.7);
  CHECK(after.node.gpu.staging_share == 0.5);
  CHECK(after.node.gpu.sustained_clock == before.node.gpu.sustained_clock);
  CHECK(after.node.host.slowdown == 2.5);
  CHECK(after.node.host.memory_bandwidth.per_second == 7e9);
  CHECK(after.calibration == calibration);
}

TEST_CASE("a link's constant stands at every such link of the node, and at no other") {
  const ClusterSpec cluster = calibrated(nvlink_cluster(2, 2), with("link.nvlink2.bandwidth", 20e9));
  int nvlinks = 0;
  for (const NodeLink& link : cluster.node.links) {
    const bool is_nvlink = link.type.name == "nvlink2";
    nvlinks += is_nvlink ? 1 : 0;
    if (is_nvlink) CHECK(link.type.bandwidth.per_second == 20e9);
    if (link.type.name == "pcie3_x16") CHECK(link.type.bandwidth.per_second == 12.3e9);
  }
  CHECK(nvlinks == 6);  // every pair of four
  // Two such links between a pair: the route has twice the rate.
  const Cluster built = Cluster::build(cluster, 1);
  CHECK(built.route(built.gpu(0, 0), built.gpu(0, 1)).bandwidth.per_second == Approx(2 * 20e9));
}

TEST_CASE("a network link's constants stand at the NICs, between the switches and in a graph") {
  Calibration calibration = with("link.ib_hdr100.bandwidth", 11e9);
  calibration.constants.push_back({"link.ib_hdr100.collective_latency", 7e-6, 0, 0, 0, 0, 0});
  const ClusterSpec cluster = calibrated(graph_cluster(), calibration);
  for (const LinkType* link :
       {&cluster.fabric.link, &cluster.fabric.uplink, &cluster.fabric.get<ExplicitFabric>().graph[0].type,
        &cluster.fabric.get<ExplicitFabric>().graph[1].type}) {
    CHECK(link->bandwidth.per_second == 11e9);
    CHECK(link->collective_latency == microseconds(7));
    CHECK(link->latency == microseconds(0.6));
  }
}

TEST_CASE(
    "a constant of a link that the cluster does not have changes nothing but what the calibration says") {
  const ClusterSpec before = nvlink_cluster(2, 2),
                    after = calibrated(before, with("link.ib_ndr.bandwidth", 48e9));
  for (std::size_t i = 0; i < before.node.links.size(); ++i)
    CHECK(after.node.links[i].type.bandwidth.per_second == before.node.links[i].type.bandwidth.per_second);
  CHECK(after.fabric.link.bandwidth.per_second == before.fabric.link.bandwidth.per_second);
}

TEST_CASE("the types of links are listed once each, by name") {
  std::vector<std::string> names;
  for (const LinkType& link : link_types_of(nvlink_cluster(2, 2))) names.push_back(link.name);
  CHECK(names == std::vector<std::string>{"ib_hdr100", "nvlink2", "pcie3_x16", "upi"});
  ClusterSpec alone = plain_node(2, v100());  // no network: its link has no name
  CHECK(link_types_of(alone).size() == 1);
  CHECK(name_of_link_constant("nvlink2", "bandwidth") == "link.nvlink2.bandwidth");
}

TEST_CASE("a second calibration takes the place of the first where both have a constant") {
  const ClusterSpec once = calibrated(nvlink_cluster(1, 1), with("gpu.memory_efficiency", 0.6));
  const ClusterSpec twice = calibrated(once, with("gpu.memory_efficiency", 0.7));
  CHECK(twice.node.gpu.memory_efficiency == 0.7);
  CHECK(twice.calibration.constants.size() == 1);
}

}  // namespace calibrated_cluster_test
