// Fabrics: how their links are numbered, which way a message takes, and what oversubscription costs.
#include <algorithm>
#include <set>

#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/engine/max_min.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/route_text.hpp"
#include "tests/support/test_clusters.hpp"

namespace fabric_test {

using namespace foretrain;

namespace {

/// One-GPU nodes under leaves of `nodes_per_leaf`, `uplinks` spines; the uplinks are as fast as the NICs, 10
/// GB/s.
ClusterSpec fat_tree(int nodes, int nodes_per_leaf, int uplinks) {
  ClusterSpec spec = test::star_cluster(nodes, {10e9});
  spec.fabric.kind = "fat_tree";
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = nodes_per_leaf;
  tree.uplinks_per_leaf = uplinks;
  return spec;
}

Route between(const Cluster& cluster, int from, int to) {
  return cluster.route_between_nodes(cluster.gpu(from, 0), cluster.gpu(to, 0), 0);
}

std::string way(const Cluster& cluster, int from, int to) {
  return test::route_text(cluster, between(cluster, from, to));
}

/// The rates of one flow from each node of leaf 0 to the node of leaf 1 at the same place, in GB/s.
std::vector<double> leaf_to_leaf(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, spec.nodes);
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  const int half = spec.fabric.get<FatTree>().nodes_per_leaf;
  for (int node = 0; node < half; ++node) problem.add_flow(between(cluster, node, half + node).links);
  std::vector<double> gigabytes;
  for (const ByteRate rate : max_min_rates(problem)) gigabytes.push_back(rate.per_second / 1e9);
  return gigabytes;
}

}  // namespace

TEST_CASE("the catalog knows its fabrics by name, and none for an empty one") {
  for (const Fabric& row : fabrics()) CHECK(find_fabric(row.name)->name == row.name);
  CHECK(find_fabric("")->name == "none");
  CHECK(find_fabric("hypercube") == nullptr);
}

TEST_CASE("a star has one switch, and per NIC a link up and a link down") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(3, 2), 3);
  const LinkId first = cluster.first_link(3);
  REQUIRE(cluster.links().size() == first + 2 * 3 * 2);
  for (LinkId port = 0; port < 6; ++port) {
    const ClusterLink& up = cluster.links()[first + 2 * port];
    const ClusterLink& down = cluster.links()[first + 2 * port + 1];
    CHECK(up.from == cluster.nic(static_cast<int>(port / 2), static_cast<int>(port % 2)));
    CHECK(test::device_text(cluster, up.to) == "leaf0");
    CHECK(down.from == up.to);
    CHECK(down.to == up.from);
    CHECK(up.kind == LinkKind::network);
  }
}

TEST_CASE("in a star no two pairs of nodes share a link") {
  const Cluster cluster = Cluster::build(test::star_cluster(4, {10e9}), 4);
  CHECK(way(cluster, 0, 1) == "gpu0@0 cpu0@0 nic0@0 leaf0 nic0@1 cpu0@1 gpu0@1");
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  for (int node = 0; node < 4; ++node) problem.add_flow(between(cluster, node, (node + 1) % 4).links);
  for (const ByteRate rate : max_min_rates(problem)) CHECK(rate.per_second == Approx(10e9));
}

TEST_CASE("a fat tree has a leaf for every so many nodes, and one link from each leaf to each spine") {
  const Cluster cluster = Cluster::build(fat_tree(5, 2, 3), 5);
  const auto count = [&](VertexKind kind) {
    return std::ranges::count_if(cluster.vertices(), [=](const Vertex& v) { return v.kind == kind; });
  };
  CHECK(count(VertexKind::leaf) == 3);  // 2 + 2 + 1 nodes
  CHECK(count(VertexKind::spine) == 3);
  const LinkId after_nics = cluster.first_link(5) + 2 * 5;
  REQUIRE(cluster.links().size() == after_nics + 2 * 3 * 3);
  // The up link of leaf 1 to spine 2 is the one after those of leaf 0 (3) and spines 0 and 1 of leaf 1 (2).
  const ClusterLink& up = cluster.links()[after_nics + 2 * 5];
  CHECK(test::device_text(cluster, up.from) == "leaf1");
  CHECK(test::device_text(cluster, up.to) == "spine2");
}

TEST_CASE("under one leaf the way does not climb to a spine") {
  const Cluster cluster = Cluster::build(fat_tree(4, 2, 2), 4);
  const Route route = between(cluster, 2, 3);
  CHECK(test::route_text(cluster, route) == "gpu0@2 cpu0@2 nic0@2 leaf1 nic0@3 cpu0@3 gpu0@3");
  CHECK(route.latency == microseconds(4 * 1.0 + 2 * 0.6 + 0.3));
}

TEST_CASE("between leaves the way passes three switches") {
  const Cluster cluster = Cluster::build(fat_tree(4, 2, 2), 4);
  const Route route = between(cluster, 0, 3);  // NIC 3 of 2 spines: spine 1
  CHECK(test::route_text(cluster, route) == "gpu0@0 cpu0@0 nic0@0 leaf0 spine1 leaf1 nic0@3 cpu0@3 gpu0@3");
  CHECK(route.latency == microseconds(4 * 1.0 + 4 * 0.6 + 3 * 0.3));
}

TEST_CASE("the receiver alone decides the spine") {
  const Cluster cluster = Cluster::build(fat_tree(12, 4, 3), 12);
  for (int to = 0; to < 4; ++to) {
    std::set<std::string> spines;
    for (int from = 4; from < 12; ++from) {
      const std::string text = way(cluster, from, to);
      spines.insert(text.substr(text.find("spine"), 6));
    }
    CHECK(spines == std::set<std::string>{"spine" + std::to_string(to % 3)});
  }
}

TEST_CASE(
    "the blocking ratio is nodes over uplinks: a leaf that sends to another gets that share of its NICs") {
  for (const double rate : leaf_to_leaf(fat_tree(8, 4, 4))) CHECK(rate == Approx(10));  // 4 nodes, 4 uplinks
  for (const double rate : leaf_to_leaf(fat_tree(8, 4, 2))) CHECK(rate == Approx(5));   // 2 : 1
  for (const double rate : leaf_to_leaf(fat_tree(8, 4, 1))) CHECK(rate == Approx(2.5));
}

TEST_CASE("uplinks that do not divide the nodes are shared unevenly") {
  // Receivers 4 5 6 7 take spines 1 2 0 1 of three: two of them meet on spine 1.
  std::vector<double> rates = leaf_to_leaf(fat_tree(8, 4, 3));
  std::ranges::sort(rates);
  REQUIRE(rates.size() == 4);
  CHECK(rates[0] == Approx(5));
  CHECK(rates[1] == Approx(5));
  CHECK(rates[2] == Approx(10));
  CHECK(rates[3] == Approx(10));
}

TEST_CASE("uplinks may be faster than NICs") {
  ClusterSpec spec = fat_tree(8, 4, 2);
  spec.fabric.uplink = spec.fabric.link;
  spec.fabric.uplink.bandwidth = {20e9};
  for (const double rate : leaf_to_leaf(spec)) CHECK(rate == Approx(10));
}

TEST_CASE("two senders to one node share its link down") {
  const Cluster cluster = Cluster::build(fat_tree(8, 4, 4), 8);
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  problem.add_flow(between(cluster, 0, 5).links);
  problem.add_flow(between(cluster, 6, 5).links);
  for (const ByteRate rate : max_min_rates(problem)) CHECK(rate.per_second == Approx(5e9));
}

}  // namespace fabric_test
