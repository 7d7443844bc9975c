// What fabrics carry: rates of permutations by max-min sharing against the closed form of the narrowest cut.
#include <algorithm>
#include <numeric>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/dragonfly_plus.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/rail_optimized.hpp"
#include "sim/cluster/fabrics/torus.hpp"
#include "sim/engine/max_min.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"

namespace bisection_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double kNic = 10e9;

ClusterSpec with_nic(std::string kind, int nodes) {
  ClusterSpec spec = star_cluster(nodes, {kNic});
  spec.fabric.kind = std::move(kind);
  return spec;
}

/// Rates of flows from every node to the one `shift` after it, in NIC rates.
std::vector<double> shift_rates(const ClusterSpec& spec, int shift) {
  const Cluster cluster = Cluster::build(spec, spec.nodes);
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  for (int node = 0; node < spec.nodes; ++node)
    problem.add_flow(
        cluster.route_between_nodes(cluster.gpu(node, 0), cluster.gpu((node + shift) % spec.nodes, 0), 0)
            .links);
  std::vector<double> rates;
  for (const ByteRate rate : max_min_rates(problem)) rates.push_back(rate.per_second / kNic);
  return rates;
}

double least(const std::vector<double>& rates) { return *std::min_element(rates.begin(), rates.end()); }
double sum(const std::vector<double>& rates) { return std::accumulate(rates.begin(), rates.end(), 0.0); }

ClusterSpec three_levels(int uplinks, int cores) {
  ClusterSpec spec = with_nic("fat_tree", 32);
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.levels = 3, tree.nodes_per_leaf = 4, tree.leaves_per_group = 4;
  tree.uplinks_per_leaf = uplinks, tree.uplinks_per_spine = cores;
  return spec;
}

}  // namespace

TEST_CASE("a non-blocking fat tree of three levels carries every shift at the rate of the NICs") {
  for (const int shift : {1, 3, 4, 8, 15, 16, 17})
    CHECK(least(shift_rates(three_levels(4, 4), shift)) == Approx(1));
}

TEST_CASE("a fat tree carries from group to group what its cores carry") {
  // Shift 16 sends every node to the other of two groups: 16 flows over 4 spines x c cores.
  CHECK(sum(shift_rates(three_levels(4, 2), 16)) == Approx(2 * 4 * 2));
  CHECK(sum(shift_rates(three_levels(4, 1), 16)) == Approx(2 * 4 * 1));
  // Within a group the spines alone count: shift 4 crosses groups in 4 of 16 cases, and then uses at most the
  // same uplinks.
  CHECK(sum(shift_rates(three_levels(2, 4), 4)) == Approx(32 * 2.0 / 4));
}

TEST_CASE("parallel links add their bandwidths") {
  ClusterSpec spec = three_levels(2, 2);
  const double single = sum(shift_rates(spec, 16));
  spec.fabric.edit<FatTree>().parallel_links = 2;
  CHECK(sum(shift_rates(spec, 16)) == Approx(2 * single));
}

TEST_CASE(
    "a ring of routers carries every flow to the next neighbour, and half of them to the one after it") {
  ClusterSpec spec = with_nic("torus", 8);
  spec.fabric.edit<Torus>().dimensions = {8};
  CHECK(least(shift_rates(spec, 1)) == Approx(1));
  CHECK(least(shift_rates(spec, 2)) == Approx(0.5));   // each link is on two routes
  CHECK(least(shift_rates(spec, 4)) == Approx(0.25));  // four hops, all upwards
}

TEST_CASE("between two groups of a dragonfly the links between them are the cut") {
  ClusterSpec spec = with_nic("dragonfly", 16);
  Dragonfly& groups = spec.fabric.edit<Dragonfly>();
  groups.groups = 2, groups.routers_per_group = 8, groups.nodes_per_router = 1;
  for (const int global_links : {1, 2, 4, 8}) {
    groups.global_links = global_links;
    CHECK(sum(shift_rates(spec, 8)) == Approx(2 * global_links));  // both directions
  }
}

TEST_CASE("cells of a dragonfly+ are joined by their global links") {
  ClusterSpec spec = with_nic("dragonfly_plus", 16);
  DragonflyPlus& cells = spec.fabric.edit<DragonflyPlus>();
  cells.groups = 2, cells.leaves_per_group = 2, cells.nodes_per_leaf = 4, cells.uplinks_per_leaf = 4;
  for (const int global_links : {2, 4, 8}) {
    cells.global_links = global_links;
    CHECK(sum(shift_rates(spec, 8)) == Approx(2 * global_links));
  }
}

TEST_CASE("rails do not disturb each other") {
  ClusterSpec spec = rail_example();
  spec.nodes = 3;  // one group
  const Cluster cluster = Cluster::build(spec, 3);
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  for (int node = 0; node < 3; ++node) {
    for (const int nic : {0, 1})
      problem.add_flow(
          cluster.route_between_nodes(cluster.gpu(node, 2 * nic), cluster.gpu((node + 1) % 3, 2 * nic), nic)
              .links);
  }
  for (const ByteRate rate : max_min_rates(problem))
    CHECK(rate.per_second == Approx(hdr100().bandwidth.per_second));
}

TEST_CASE("a rail uses all its spines, whatever the number of rails") {
  ClusterSpec spec = nvlink_cluster(16, 2);
  spec.fabric.kind = "rail_optimized";
  RailOptimized& rails = spec.fabric.edit<RailOptimized>();
  rails.nodes_per_leaf = 8, rails.uplinks_per_leaf = 8;
  const Cluster cluster = Cluster::build(spec, 16);
  MaxMinProblem problem;
  problem.capacities = cluster.capacities();
  for (int node = 0; node < 8; ++node)
    problem.add_flow(cluster.route_between_nodes(cluster.gpu(node, 0), cluster.gpu(node + 8, 0), 0).links);
  for (const ByteRate rate : max_min_rates(problem))
    CHECK(rate.per_second == Approx(hdr100().bandwidth.per_second));
}

}  // namespace bisection_test
