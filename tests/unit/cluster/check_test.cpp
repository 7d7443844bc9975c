// check(): every fault of a cluster description, its message compared whole.
#include <limits>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace check_test {

using namespace foretrain;
using test::connect;

namespace {

/// "message | hint", one per line, with the link in front where there is one to blame.
std::string faults_of(const ClusterSpec& spec) {
  std::string text;
  for (const ClusterFault& fault : check(spec)) {
    if (fault.link >= 0) text += "link " + std::to_string(fault.link) + ": ";
    text += fault.message + (fault.hint.empty() ? "" : " | " + fault.hint) + "\n";
  }
  return text;
}

/// Two GPUs at one CPU; the links are gpu0 - cpu0 and gpu1 - cpu0.
ClusterSpec two_gpus() { return test::plain_node(2, test::v100()); }

ClusterSpec fat_tree(int nodes_per_leaf, int uplinks_per_leaf) {
  ClusterSpec spec = test::star_cluster(4, {10e9});
  spec.fabric.kind = "fat_tree";
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = nodes_per_leaf;
  tree.uplinks_per_leaf = uplinks_per_leaf;
  return spec;
}

}  // namespace

TEST_CASE("the clusters of the tests have no faults") {
  for (const ClusterSpec& spec :
       {test::star_cluster(9, {1e9}), test::nvlink_cluster(2, 1), test::nvlink_cluster(2, 2),
        test::pcie_cluster(2, 8), test::nvswitch_node(), test::cube_mesh_node(), test::two_socket_node(2),
        test::mesh_node(4, test::a100(), test::nvlink3(), 4), fat_tree(2, 1)}) {
    INFO(spec.name);
    CHECK(faults_of(spec) == "");
  }
}

TEST_CASE("counts out of range are told with their limits, all at once") {
  ClusterSpec spec = two_gpus();
  spec.nodes = 0;
  spec.node.gpus = 65, spec.node.cpus = 0, spec.node.switches = -1, spec.node.nvswitches = 1000,
  spec.node.nics = 65;
  CHECK(faults_of(spec) ==
        "the number of nodes must be at least 1, not 0\n"
        "the number of GPUs of a node must be at most 64, not 65\n"
        "the number of CPUs of a node must be at least 1, not 0\n"
        "the number of PCIe switches of a node must be at least 0, not -1\n"
        "the number of NVSwitches of a node must be at most 64, not 1000\n"
        "the number of NICs of a node must be at most 64, not 65\n");
}

TEST_CASE("a cluster too large for the program is refused, not built") {
  ClusterSpec spec = test::pcie_cluster(100'000, 64);
  CHECK(faults_of(spec) == "100000 nodes of 64 GPUs are more than 1000000 GPUs\n");
  spec = test::star_cluster(100'000, {1e9});
  for (int i = 0; i < 98; ++i) spec.node.links.push_back(connect("gpu0", "cpu0", test::pcie3()));
  // 98 and the 2 it had, and one NIC: 2 * 101 * 100000 = 20.2 million.
  CHECK(faults_of(spec) == "100000 nodes with 101 connections each are too many | describe fewer nodes\n");
  spec.node.links.assign(5000, connect("gpu0", "cpu0", test::pcie3()));
  CHECK(faults_of(spec) == "the number of links of a node must be at most 4096, not 4097\n");
}

TEST_CASE("a device that does not exist is named, with those that are near") {
  ClusterSpec spec = two_gpus();
  spec.node.links[1].a = "gpu2";
  CHECK_THAT(faults_of(spec),
             ContainsSubstring("link 1: there is no device \"gpu2\" in the node | did you mean \"gpu0\""));
  spec.node.links[1].a = "gpu1";
  spec.node.links[1].b = "xyz";
  CHECK(faults_of(spec) == "link 1: there is no device \"xyz\" in the node | known: gpu0, gpu1, cpu0\n");
}

TEST_CASE("a link from a device to itself is a fault") {
  ClusterSpec spec = two_gpus();
  spec.node.links.push_back(connect("gpu0", "gpu0", test::nvlink2()));
  CHECK(faults_of(spec) == "link 2: a link from gpu0 to itself | a link connects two different devices\n");
}

TEST_CASE("one pair twice is a fault in either direction, but not over different kinds") {
  ClusterSpec spec = two_gpus();
  spec.node.links.push_back(connect("cpu0", "gpu0", test::pcie3()));
  CHECK(
      faults_of(spec) ==
      "link 2: the link cpu0 - gpu0 is there twice | one link with count = 2 describes two parallel links\n");
  spec.node.links.back().type = test::nvlink2();
  CHECK(faults_of(spec) == "");
}

TEST_CASE("numbers of a link that cannot be are told with the link") {
  const auto faults_with = [](auto change) {
    ClusterSpec spec = two_gpus();
    change(spec.node.links[0]);
    return faults_of(spec);
  };
  const std::string link = "link 0: the link gpu0 - cpu0 ";
  for (const double rate :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(faults_with([=](NodeLink& l) { l.type.bandwidth = {rate}; }) == link + "has no bandwidth\n");
  }
  CHECK(faults_with([](NodeLink& l) { l.type.collective_efficiency = 1.5; }) ==
        link + "has collective_efficiency 1.5, which is not above 0 and at most 1\n");
  CHECK(faults_with([](NodeLink& l) { l.type.bandwidth = {2e9}, l.type.flow_bandwidth = {3e9}; }) ==
        link + "has a flow_bandwidth of 3 GBps, more than its bandwidth of 2 GBps\n");
  CHECK(faults_with([](NodeLink& l) { l.type.collective_efficiency = 0; }) ==
        link + "has collective_efficiency 0, which is not above 0 and at most 1\n");
  CHECK(faults_with([](NodeLink& l) { l.type.latency = Time{-1}; }) == link + "has a negative latency\n");
  CHECK(faults_with([](NodeLink& l) { l.type.latency = kLongestTime; }) ==
        link + "has a latency of more than a second\n");
  const std::string hint = " | count is the number of parallel links, 1 to 1024\n";
  CHECK(faults_with([](NodeLink& l) { l.count = 0; }) == link + "has count 0" + hint);
  CHECK(faults_with([](NodeLink& l) { l.count = 1025; }) == link + "has count 1025" + hint);
}

TEST_CASE("kinds of links have their places") {
  ClusterSpec spec = two_gpus();
  spec.node.nvswitches = 1;
  spec.node.links.push_back(connect("gpu0", "gpu1", test::hdr100()));
  spec.node.links.push_back(connect("gpu0", "nvswitch0", test::pcie3()));
  CHECK(faults_of(spec) ==
        "link 2: the link gpu0 - gpu1 is a network link inside a node | the fabric connects NICs; inside a "
        "node use pcie, nvlink or "
        "socket links\n"
        "link 3: the link gpu0 - nvswitch0 is not an NVLink | an NVSwitch takes NVLinks only\n");
}

TEST_CASE("a fabric of unknown kind is told with the known ones") {
  ClusterSpec spec = test::star_cluster(2, {1e9});
  spec.fabric.kind = "fat-tree";
  CHECK(faults_of(spec) == "there is no fabric kind \"fat-tree\" | did you mean \"fat_tree\"?\n");
}

TEST_CASE("several nodes need a fabric and NICs") {
  ClusterSpec spec = two_gpus();
  spec.nodes = 2;
  CHECK(faults_of(spec) ==
        "more than one node needs a fabric | add a fabric table with kind = \"star\" or \"fat_tree\" and the "
        "link of a NIC\n"
        "more than one node needs a NIC in every node | set nics = 1 and connect nic0 to cpu0 or a switch\n");
}

TEST_CASE("a fat tree needs its two numbers, and not too many uplinks") {
  CHECK(faults_of(fat_tree(0, 0)) ==
        "a fat_tree needs nodes_per_leaf | nodes_per_leaf = 18 puts 18 nodes under every leaf switch\n"
        "a fat_tree needs uplinks_per_leaf | uplinks_per_leaf = 18 makes 18 spine switches, one link from "
        "every leaf to each\n");
  CHECK(faults_of(fat_tree(1, std::numeric_limits<int>::max())) ==
        "the fat_tree has too many uplinks | raise nodes_per_leaf or lower uplinks_per_leaf\n");
}

TEST_CASE("the numbers of the fabric's links are checked like those of a node") {
  ClusterSpec spec = fat_tree(2, 1);
  spec.fabric.link.bandwidth = {0};
  spec.fabric.uplink = test::hdr100();
  spec.fabric.uplink.collective_efficiency = 2;
  spec.fabric.switch_latency = Time{-1};
  CHECK(faults_of(spec) ==
        "the link of the fabric has no bandwidth | name a network link, say link = \"ib_hdr100\"\n"
        "the uplink of the fabric has collective_efficiency 2, which is not above 0 and at most 1\n"
        "the switch latency is negative\n");
  spec = fat_tree(2, 1);
  spec.fabric.switch_latency = std::chrono::seconds(2);
  CHECK(faults_of(spec) == "the switch latency is more than a second\n");
}

TEST_CASE("a GPU without a way to a CPU is told") {
  ClusterSpec spec = two_gpus();
  spec.node.links.pop_back();
  CHECK(faults_of(spec) ==
        "gpu1 cannot be reached from cpu0 | connect gpu1 by PCIe to cpu0 or to a switch that leads there\n");
}

TEST_CASE("GPUs of two sockets without a link between them are told") {
  ClusterSpec spec = test::two_socket_node(1);
  spec.node.links.erase(spec.node.links.begin());
  CHECK(
      faults_of(spec) ==
      "gpu1 cannot be reached from gpu0 | connect their CPUs with a socket link, or the GPUs with NVLink\n");
}

TEST_CASE("a NIC without a way to the GPUs is told once") {
  ClusterSpec spec = test::pcie_cluster(2, 4);
  spec.node.links.pop_back();
  CHECK(faults_of(spec) ==
        "nic0 cannot be reached from gpu0 | connect nic0 by PCIe to a CPU or switch that leads to gpu0\n");
}

}  // namespace check_test
