// Loads by link: what nodes of one class share, what protocols and routes lose, and which link is the narrow
// place.
#include "sim/collective/link_loads.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace link_loads_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

NodeToNodeRoute way_between(const Cluster& cluster, int from, int to) {
  NodeToNodeRoute way;
  cluster.find_route_between_nodes(cluster.gpu(from, 0), cluster.gpu(to, 0), 0, 0, way);
  return way;
}

/// Three nodes of two GPUs; the first link of a route between them is GPU to CPU, the fourth leaf to NIC.
struct ThreeNodes {
  Cluster cluster = Cluster::build(pcie_cluster(3, 2), 3);

  Route inside() const { return cluster.route_in_node(cluster.gpu(0, 0), cluster.gpu(0, 1)); }
  Route between(int from, int to) const {
    return cluster.route_between_nodes(cluster.gpu(from, 0), cluster.gpu(to, 0), 0);
  }
  NodeToNodeRoute way(int from, int to) const { return way_between(cluster, from, to); }
};

}  // namespace

TEST_CASE("no traffic has no narrow place") {
  const ThreeNodes three;
  const LinkLoads loads(three.cluster, {0, 0, 0});
  CHECK(loads.slowest({}, Leg::inside).link == kNone);
  CHECK(loads.slowest({}, Leg::between).link == kNone);
  CHECK(loads.slowest({}, Leg::inside).seconds_per_byte == 0);
}

TEST_CASE("traffic inside a class is on the links of each of its nodes and of no other") {
  const ThreeNodes three;
  LinkLoads loads(three.cluster, {0, 1, 0});
  Route route = three.inside();
  route.collective_efficiency = 0.5;
  loads.add_inside(0, route, 3);
  for (const LinkId link : route.links) {
    CHECK(loads.load(link, Leg::inside) == 3 / 0.5);
    CHECK(loads.load(link + three.cluster.first_link(2), Leg::inside) == 3 / 0.5);
    CHECK(loads.load(link + three.cluster.first_link(1), Leg::inside) == 0);
    CHECK(loads.load(link, Leg::between) == 0);
  }
}

TEST_CASE("nodes outside the job carry nothing") {
  const ThreeNodes three;
  LinkLoads loads(three.cluster, {-1, 0, -1});
  loads.add_inside(0, three.inside(), 1);
  const LinkId link = three.inside().links.front();
  CHECK(loads.load(link, Leg::inside) == 0);
  CHECK(loads.load(link + three.cluster.first_link(1), Leg::inside) > 0);
  // The narrow place is named where it is.
  const LinkId slowest = loads.slowest({}, Leg::inside).link;
  CHECK(slowest >= three.cluster.first_link(1));
  CHECK(slowest < three.cluster.first_link(2));
}

TEST_CASE(
    "between nodes the first node of a class stands for the others, links of the fabric for themselves") {
  const ThreeNodes three;
  LinkLoads loads(three.cluster, {0, 0, 0});
  for (int node = 0; node < 3; ++node) {
    loads.add_between(node, (node + 1) % 3, three.way(node, (node + 1) % 3), 2);
  }
  for (int node = 0; node < 3; ++node) {
    const Route route = three.between(node, (node + 1) % 3);
    for (const LinkId link : route.links)
      CHECK(loads.load(link, Leg::between) == Approx(2 / route.collective_efficiency));
  }
}

TEST_CASE("a link needs the time of all it carries, whichever leg asks") {
  const ThreeNodes three;
  LinkLoads loads(three.cluster, {0, 0, 0});
  Route in = three.inside();
  NodeToNodeRoute out = three.way(0, 1);
  in.collective_efficiency = out.collective_efficiency = 1;
  loads.add_inside(0, in, 4);
  loads.add_between(0, 1, out, 2);
  // GPU 0's way up carries both: 4 at 80 % of 12.3 GB/s and 2 at 50 %.
  const LinkLoads::Efficiency efficiency{0.8, 0.5, {}};
  const double expected = (4 / 0.8 + 2 / 0.5) / 12.3e9;
  REQUIRE(in.links.front() == out.out->links.front());
  for (const Leg leg : {Leg::inside, Leg::between}) {
    CHECK(loads.slowest(efficiency, leg).link == in.links.front());
    CHECK(loads.slowest(efficiency, leg).seconds_per_byte == Approx(expected));
  }
}

TEST_CASE("a limit of the network hides what the route loses") {
  const ThreeNodes three;
  LinkLoads loads(three.cluster, {0, 0, 0});
  NodeToNodeRoute way = three.way(0, 1);
  way.collective_efficiency = 0.5;
  loads.add_between(0, 1, way, 1);
  CHECK(loads.slowest({1, 0.8, {}}, Leg::between).seconds_per_byte == Approx(1 / (12.3e9 * 0.5 * 0.8)));
  CHECK(loads.slowest({1, 0.8, {3e9}}, Leg::between).seconds_per_byte == Approx(1 / 3e9));
  CHECK(loads.slowest({1, 0.8, {30e9}}, Leg::between).seconds_per_byte == Approx(1 / (12.3e9 * 0.8)));
}

TEST_CASE(
    "what LL gets out of a NIC is the NIC's limit: a faster network makes the PCIe links before it no "
    "slower") {
  for (const double network : {12.3e9, 100e9, 1e18}) {
    ClusterSpec spec = pcie_cluster(3, 2);
    spec.fabric.link.bandwidth = {network};
    const Cluster cluster = Cluster::build(spec, 3);
    LinkLoads loads(cluster, {0, 0, 0});
    NodeToNodeRoute way = way_between(cluster, 0, 1);
    way.collective_efficiency = 1;
    loads.add_between(0, 1, way, 2);
    const LinkLoads::Efficiency limited{1, 0.5, {2.3e9}};
    // 2.3 GB/s are less than half of PCIe's 12.3 GB/s.
    CHECK(loads.slowest(limited, Leg::between).seconds_per_byte == Approx(2 / 2.3e9));
    CHECK(loads.isolated_between(limited) == Approx(2 / 2.3e9));
  }
}

}  // namespace link_loads_test
