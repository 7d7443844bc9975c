// Laws of clusters: every fabric, every pair of devices.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Four nodes (one for "none") of two NICs over each fabric of the catalog.
std::vector<ClusterSpec> one_per_fabric() {
  std::vector<ClusterSpec> specs;
  for (const Fabric& fabric : fabrics()) {
    ClusterSpec spec = nvlink_cluster(fabric.name == "none" ? 1 : 4, 2);
    spec.fabric.kind = fabric.name;
    spec.fabric.nodes_per_leaf = 2, spec.fabric.uplinks_per_leaf = 2;
    specs.push_back(spec);
  }
  return specs;
}

void require_connected(const Cluster& cluster, const Route& route, VertexId from, VertexId to) {
  REQUIRE_FALSE(route.links.empty());
  VertexId at = from;
  Time latency{};
  for (const LinkId id : route.links) {
    REQUIRE(id < cluster.links().size());
    const ClusterLink& link = cluster.links()[id];
    REQUIRE(link.from == at);
    REQUIRE(route.bandwidth <= link.bandwidth);
    latency += link.latency;
    at = link.to;
  }
  REQUIRE(at == to);
  REQUIRE(route.latency >= latency);
}

}  // namespace

TEST_CASE("every fabric has a name, a summary and accepts its own example") {
  for (const Fabric& fabric : fabrics()) {
    CHECK_FALSE(fabric.name.empty());
    CHECK_FALSE(fabric.summary.empty());
    CHECK(find_fabric(fabric.name) == &fabric);
  }
  for (const ClusterSpec& spec : one_per_fabric()) CHECK(check(spec).empty());
  CHECK(find_fabric("") == find_fabric("none"));
  CHECK(find_fabric("ring") == nullptr);
}

TEST_CASE("every route leads from its source to its target, link by link") {
  for (const ClusterSpec& spec : one_per_fabric()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (int a = 0; a < 4 * spec.nodes; ++a) {
      for (int b = 0; b < 4 * spec.nodes; ++b) {
        const VertexId from = cluster.gpu(a / 4, a % 4), to = cluster.gpu(b / 4, b % 4);
        if (a == b) continue;
        if (a / 4 == b / 4)
          require_connected(cluster, cluster.route(from, to), from, to);
        else
          for (const int rail : {0, 1}) require_connected(cluster, cluster.route_between_nodes(from, to, rail), from, to);
      }
    }
  }
}

TEST_CASE("every link has its other direction beside it") {
  for (const ClusterSpec& spec : one_per_fabric()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    REQUIRE(cluster.links().size() % 2 == 0);
    for (std::size_t i = 0; i < cluster.links().size(); i += 2) {
      const ClusterLink &there = cluster.links()[i], &back = cluster.links()[i + 1];
      REQUIRE(there.from == back.to);
      REQUIRE(there.to == back.from);
      REQUIRE(there.bandwidth == back.bandwidth);
    }
    CHECK(cluster.capacities().size() == cluster.links().size());
  }
}

TEST_CASE("all nodes are laid out alike") {
  for (const ClusterSpec& spec : one_per_fabric()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const VertexId per_node = spec.nodes > 1 ? cluster.gpu(1, 0) - cluster.gpu(0, 0) : 0;
    for (int node = 1; node < spec.nodes; ++node) {
      for (VertexId v = 0; v < per_node; ++v) {
        const Vertex &first = cluster.vertices()[v], &same = cluster.vertices()[static_cast<VertexId>(node) * per_node + v];
        REQUIRE(first.kind == same.kind);
        REQUIRE(first.index == same.index);
        REQUIRE(same.node == node);
      }
    }
  }
}

TEST_CASE("a cluster of fewer nodes has the same routes inside its nodes") {
  const ClusterSpec spec = nvlink_cluster(4, 2);
  const Cluster two = Cluster::build(spec, 2), four = Cluster::build(spec, 4);
  for (int g = 1; g < 4; ++g) CHECK(two.route(two.gpu(1, 0), two.gpu(1, g)).links == four.route(four.gpu(1, 0), four.gpu(1, g)).links);
}
