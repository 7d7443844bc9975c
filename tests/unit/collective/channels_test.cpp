// Rings on NVLink meshes, NVSwitches, PCIe trees and over rails.
#include "sim/collective/channels.hpp"

#include <algorithm>
#include <set>

#include "sim/collective/ring_search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

Rings rings_of(const ClusterSpec& spec, int gpus) {
  const Cluster cluster = Cluster::build(spec, spec.nodes);
  return find_rings(cluster, place_packed(gpus, spec.node.gpus));
}

bool visits_everyone_once(const Channel& channel, int ranks) {
  std::vector<int> sorted = channel.order;
  std::ranges::sort(sorted);
  for (int rank = 0; rank < ranks; ++rank) {
    if (sorted[static_cast<std::size_t>(rank)] != rank) return false;
  }
  return static_cast<int>(sorted.size()) == ranks;
}

/// Links per pair of the 8-GPU hybrid cube mesh of a DGX-1 V100 (facts/SYSTEMS.md 2.14).
FreeLinks dgx1() {
  FreeLinks links(8);
  const int edges[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                          {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  for (const auto& [a, b, count] : edges) links.at(a, b) = links.at(b, a) = count;
  return links;
}

}  // namespace

TEST_CASE("four GPUs with two NVLinks between each pair have six rings, which use every link once") {
  const Rings rings = rings_of(nvlink_cluster(1, 2), 4);
  CHECK(rings.channels.size() == 6);    // 12 directed pairs x 2 links / 4 edges
  CHECK(rings.running_channels == 12);  // as NCCL 2.7.8 prints for such a node
  int use[4][4] = {};
  for (const Channel& channel : rings.channels) {
    CHECK(visits_everyone_once(channel, 4));
    for (std::size_t i = 0; i < 4; ++i) ++use[channel.order[i]][channel.order[(i + 1) % 4]];
  }
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) CHECK(use[a][b] == (a == b ? 0 : 2));
  }
}

TEST_CASE("two of these GPUs have a ring per link") { CHECK(rings_of(nvlink_cluster(1, 2), 2).channels.size() == 2); }

TEST_CASE("the cube mesh of a DGX-1 gives all six rings its links allow") {
  const std::vector<std::vector<int>> rings = disjoint_rings(dgx1());
  CHECK(rings.size() == 6);  // six links out of every GPU
  FreeLinks left = dgx1();
  for (const std::vector<int>& ring : rings) left.take_ring(ring);
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) CHECK(left.at(a, b) >= 0);
  }
}

TEST_CASE("no ring is found where a place has one neighbour or none") {
  FreeLinks line(3);
  line.at(0, 1) = line.at(1, 0) = line.at(1, 2) = line.at(2, 1) = 3;
  CHECK(widest_ring(line).empty());
  CHECK(widest_path(line, 0, 2) == std::vector<int>{0, 1, 2});
  CHECK(widest_path(line, 0, 1).empty());
  CHECK(widest_ring(FreeLinks(1)).empty());
}

TEST_CASE("the widest ring avoids the narrow edge") {
  FreeLinks links(4);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) links.at(a, b) = a == b ? 0 : 4;
  }
  links.at(0, 1) = 1;
  CHECK(widest_ring(links) == std::vector<int>{0, 2, 1, 3});  // the first one without 0 -> 1
}

TEST_CASE("behind an NVSwitch the order is that of the index, with a ring per link up to twelve") {
  ClusterSpec spec = pcie_cluster(1, 8);
  spec.node.nvswitches = 1;
  for (int g = 0; g < 8; ++g) spec.node.links.push_back(connect("gpu" + std::to_string(g), "nvswitch0", nvlink3(), 18));
  const Rings rings = rings_of(spec, 8);
  CHECK(rings.channels.size() == 12);
  CHECK(rings.running_channels == 24);
  CHECK(rings.channels.front().order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("PCIe GPUs form one ring in each direction, neighbours under one switch together") {
  ClusterSpec spec = nvlink_cluster(1, 2);
  std::erase_if(spec.node.links, [](const NodeLink& link) { return link.type.kind == LinkKind::nvlink; });
  for (NodeLink& link : spec.node.links) {  // GPUs 0 and 2 under switch0, 1 and 3 under switch1
    if (link.a == "gpu1") link.b = "switch1";
    if (link.a == "gpu2") link.b = "switch0";
  }
  const Rings rings = rings_of(spec, 4);
  REQUIRE(rings.channels.size() == 2);
  CHECK(rings.channels[0].order == std::vector<int>{0, 2, 1, 3});
  CHECK(rings.channels[1].order == std::vector<int>{3, 1, 2, 0});
}

TEST_CASE("between nodes every rail has a ring in and a ring out at each of the two GPUs nearest to its NIC") {
  const Rings rings = rings_of(nvlink_cluster(2, 2), 8);
  REQUIRE(rings.channels.size() == 4);
  CHECK(rings.running_channels == 4);
  for (std::size_t c = 0; c < 4; ++c) {
    const Channel& channel = rings.channels[c];
    CHECK(channel.rail == static_cast<int>(c % 2));
    CHECK(visits_everyone_once(channel, 8));
    const std::set<int> ends{channel.order[0], channel.order[3]};
    CHECK(ends == (channel.rail == 0 ? std::set<int>{0, 1} : std::set<int>{2, 3}));
  }
  CHECK(rings.channels[0].order.front() == rings.channels[2].order[3]);
}

TEST_CASE("a partly used last node and single ranks on nodes are fine") {
  for (const int gpus : {5, 6, 7}) {
    for (const Channel& channel : rings_of(nvlink_cluster(2, 2), gpus).channels) CHECK(visits_everyone_once(channel, gpus));
  }
  const Rings star = rings_of(star_cluster(5, {1e9}), 5);
  CHECK(star.channels.size() == 2);
  CHECK(star.running_channels == 2);
  CHECK(star.channels[0].order == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("one rank is its own ring") {
  const Rings rings = rings_of(nvlink_cluster(1, 2), 1);
  REQUIRE(rings.channels.size() == 1);
  CHECK(rings.channels[0].order == std::vector<int>{0});
}
