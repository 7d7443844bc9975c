// Faults of cluster descriptions: what is reported, with which words, and what is accepted.
#include <limits>

#include "sim/cluster/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// The only fault of a description.
ClusterFault only_fault(const ClusterSpec& spec) {
  const std::vector<ClusterFault> faults = check(spec);
  REQUIRE(faults.size() == 1);
  return faults.front();
}

}  // namespace

TEST_CASE("the clusters of the tests are without fault") {
  CHECK(check(star_cluster(16, {12.5e9})).empty());
  CHECK(check(nvlink_cluster(2, 1)).empty());
  CHECK(check(nvlink_cluster(80, 2)).empty());
  CHECK(check(pcie_cluster(2, 8)).empty());
}

TEST_CASE("a GPU without a link is named as unreachable, with what to add") {
  ClusterSpec spec = pcie_cluster(1, 4);
  spec.node.links.erase(spec.node.links.begin() + 3);  // gpu3 - cpu0
  const ClusterFault fault = only_fault(spec);
  CHECK(fault.message == "gpu3 cannot be reached from cpu0");
  CHECK_THAT(fault.hint, ContainsSubstring("connect gpu3 by PCIe"));
  CHECK(fault.link == -1);
}

TEST_CASE("GPUs of two sockets that are not joined cannot reach each other") {
  ClusterSpec spec = pcie_cluster(1, 2);
  spec.node.cpus = 2;
  spec.node.links[1].b = "cpu1";
  CHECK(check(spec).front().message == "gpu1 cannot be reached from gpu0");
  spec.node.links.push_back(connect("cpu0", "cpu1", upi()));
  CHECK(check(spec).empty());
}

TEST_CASE("a NIC without a link is a fault") {
  ClusterSpec spec = pcie_cluster(2, 2);
  spec.node.links.pop_back();
  CHECK(only_fault(spec).message == "nic0 cannot be reached from gpu0");
}

TEST_CASE("an unknown device is a fault of its link and gets a near miss") {
  ClusterSpec spec = pcie_cluster(1, 4);
  spec.node.links[2].a = "gpu7";
  const ClusterFault fault = only_fault(spec);
  CHECK(fault.message == "there is no device \"gpu7\" in the node");
  CHECK(fault.link == 2);
  for (const char* name : {"", "gpu", "gpu-1", "gpu01", "gpu99999999999999999999", "GPU0", "leaf0", "gpu0 "}) {
    spec.node.links[2].a = name;
    CHECK(check(spec).size() == 1);
  }
}

TEST_CASE("a link from a device to itself and a link that is there twice are faults") {
  ClusterSpec spec = pcie_cluster(1, 2);
  spec.node.links.push_back(connect("gpu0", "gpu0", pcie3()));
  CHECK(only_fault(spec).message == "a link from gpu0 to itself");
  spec.node.links.back() = connect("cpu0", "gpu1", pcie3());
  const ClusterFault twice = only_fault(spec);
  CHECK(twice.message == "the link cpu0 - gpu1 is there twice");
  CHECK(twice.link == 3);
  spec.node.links.back().type = nvlink2();  // another kind may exist beside it
  CHECK(check(spec).empty());
}

TEST_CASE("bandwidth, count, efficiency and latency must make sense") {
  ClusterSpec spec = pcie_cluster(1, 2);
  const NodeLink good = spec.node.links[0];
  NodeLink& link = spec.node.links[0];
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    link.type.bandwidth = {rate};
    CHECK(only_fault(spec).message == "the link gpu0 - cpu0 has no bandwidth");
  }
  link = good;
  for (const int count : {0, -3, std::numeric_limits<int>::max()}) {
    link.count = count;
    CHECK_THAT(only_fault(spec).message, ContainsSubstring("has count"));
  }
  link = good;
  link.type.collective_efficiency = 1.5;
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("collective_efficiency 1.5"));
  link = good;
  link.type.latency = kLongestTime;
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("latency of more than a second"));
}

TEST_CASE("several nodes need a fabric, a NIC and a link with a bandwidth") {
  ClusterSpec spec = pcie_cluster(2, 2);
  spec.fabric.kind = "";
  CHECK(only_fault(spec).message == "more than one node needs a fabric");
  spec.fabric.kind = "none";
  CHECK(only_fault(spec).message == "more than one node needs a fabric");
  spec.nodes = 1;
  CHECK(check(spec).empty());
  spec = pcie_cluster(2, 2);
  spec.fabric.link.bandwidth = {};
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("the link of the fabric has no bandwidth"));
  spec = pcie_cluster(2, 2);
  spec.node.nics = 0;
  spec.node.links.pop_back();
  CHECK(only_fault(spec).message == "more than one node needs a NIC in every node");
}

TEST_CASE("an unknown fabric gets a near miss, a fat tree without its parameters says which") {
  ClusterSpec spec = pcie_cluster(4, 2);
  spec.fabric.kind = "fat_tre";
  CHECK_THAT(only_fault(spec).hint, ContainsSubstring("fat_tree"));
  spec.fabric.kind = "fat_tree";
  REQUIRE(check(spec).size() == 2);
  CHECK(check(spec)[0].message == "a fat_tree needs nodes_per_leaf");
  spec.fabric.nodes_per_leaf = 2, spec.fabric.uplinks_per_leaf = std::numeric_limits<int>::max();
  CHECK(only_fault(spec).message == "the fat_tree has too many uplinks");
}

TEST_CASE("sizes beyond the limits are faults and nothing is built for them") {
  ClusterSpec spec = pcie_cluster(1, 2);
  spec.node.gpus = 65;
  CHECK(only_fault(spec).message == "the number of GPUs of a node must be at most 64, not 65");
  spec = pcie_cluster(1, 2);
  spec.nodes = std::numeric_limits<int>::max();
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("at most 100000"));
  spec = pcie_cluster(100'000, 16);
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("more than 1000000 GPUs"));
  spec = pcie_cluster(1, 2);
  spec.node.cpus = 0, spec.node.switches = -1;
  CHECK(check(spec).size() == 2);
}

TEST_CASE("an NVSwitch takes NVLinks only, and a network link is none of a node's") {
  ClusterSpec spec = pcie_cluster(1, 2);
  spec.node.nvswitches = 1;
  spec.node.links.push_back(connect("gpu0", "nvswitch0", pcie3()));
  CHECK(only_fault(spec).message == "the link gpu0 - nvswitch0 is not an NVLink");
  spec.node.links.back() = connect("gpu0", "gpu1", hdr100());
  CHECK_THAT(only_fault(spec).message, ContainsSubstring("network link inside a node"));
}
