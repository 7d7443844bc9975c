// Laws of clusters: every fabric, every pair of devices.
#include <set>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"

namespace cluster_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

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

TEST_CASE("every fabric has a name, a summary and an example that it accepts") {
  std::set<std::string> shown;
  for (const ClusterSpec& spec : fabric_examples()) {
    INFO(spec.name);
    CHECK(check(spec).empty());
    shown.insert(spec.fabric.kind);
  }
  for (const Fabric& fabric : fabrics()) {
    CHECK_FALSE(fabric.name.empty());
    CHECK_FALSE(fabric.summary.empty());
    CHECK(find_fabric(fabric.name) == &fabric);
    CHECK(shown.count(std::string(fabric.name)) == 1);
  }
  CHECK(find_fabric("") == find_fabric("none"));
  CHECK(find_fabric("ring") == nullptr);
}

TEST_CASE("every route leads from its source to its target, link by link") {
  for (const ClusterSpec& spec : fabric_examples()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (int a = 0; a < 4 * spec.nodes; ++a) {
      for (int b = 0; b < 4 * spec.nodes; ++b) {
        const VertexId from = cluster.gpu(a / 4, a % 4), to = cluster.gpu(b / 4, b % 4);
        if (a == b) continue;
        if (a / 4 == b / 4)
          require_connected(cluster, cluster.route(from, to), from, to);
        else
          for (const int nics : {0, 1, 2, 3})
            require_connected(cluster, cluster.route_between_nodes(from, to, nics / 2, nics % 2), from, to);
      }
    }
  }
}

TEST_CASE(
    "every link has its other direction beside it, but a GPU's staging link, which leads back to the GPU") {
  for (const ClusterSpec& spec : fabric_examples()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (std::size_t i = 0; i < cluster.links().size(); ++i) {
      const ClusterLink there = cluster.links()[i];
      if (there.from == there.to) {
        REQUIRE(cluster.vertices()[there.from].kind == VertexKind::gpu);
        continue;
      }
      const ClusterLink back = cluster.links()[++i];
      REQUIRE(there.from == back.to);
      REQUIRE(there.to == back.from);
      REQUIRE(there.bandwidth == back.bandwidth);
    }
    CHECK(cluster.capacities().size() == cluster.links().size());
  }
}

TEST_CASE("all nodes are laid out alike") {
  for (const ClusterSpec& spec : fabric_examples()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const VertexId per_node = spec.nodes > 1 ? cluster.gpu(1, 0) - cluster.gpu(0, 0) : 0;
    for (int node = 1; node < spec.nodes; ++node) {
      for (VertexId v = 0; v < per_node; ++v) {
        const Vertex &first = cluster.vertices()[v],
                     &same = cluster.vertices()[static_cast<VertexId>(node) * per_node + v];
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
  for (int g = 1; g < 4; ++g)
    CHECK(two.route(two.gpu(1, 0), two.gpu(1, g)).links == four.route(four.gpu(1, 0), four.gpu(1, g)).links);
}

TEST_CASE("no route takes a link twice, and each switch on it costs its latency") {
  for (const ClusterSpec& spec : fabric_examples()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (int a = 0; a < spec.nodes; ++a) {
      for (int b = 0; b < spec.nodes; ++b) {
        if (a == b) continue;
        const Route route = cluster.route_between_nodes(cluster.gpu(a, 0), cluster.gpu(b, 0), 0);
        REQUIRE(std::set<LinkId>(route.links.begin(), route.links.end()).size() == route.links.size());
        Time latency{};
        int switches = 0;
        for (const LinkId id : route.links) {
          latency += cluster.links()[id].latency;
          switches += cluster.vertices()[cluster.links()[id].from].node < 0 ? 1 : 0;
        }
        REQUIRE(route.latency == latency + spec.fabric.switch_latency * switches);
      }
    }
  }
}

TEST_CASE("the first nodes of a cluster have their routes, however few nodes are in use") {
  for (const ClusterSpec& spec : fabric_examples()) {
    for (int nodes = 2; nodes < spec.nodes; ++nodes) {
      const Cluster few = Cluster::build(spec, nodes);
      for (int node = 1; node < nodes; ++node) {
        for (const int nic : {0, 1})
          require_connected(few, few.route_between_nodes(few.gpu(0, 0), few.gpu(node, 3), nic), few.gpu(0, 0),
                            few.gpu(node, 3));
      }
    }
  }
}

TEST_CASE("a route there has as many links as the route back") {
  for (const ClusterSpec& spec : fabric_examples()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (int a = 0; a < spec.nodes; ++a) {
      for (int b = 0; b < a && spec.fabric.kind != "dragonfly";
           ++b) {  // a dragonfly's links between groups differ by receiver
        const VertexId from = cluster.gpu(a, 0), to = cluster.gpu(b, 0);
        REQUIRE(cluster.route_between_nodes(from, to, 1).links.size() ==
                cluster.route_between_nodes(to, from, 1).links.size());
      }
    }
  }
}

}  // namespace cluster_laws
