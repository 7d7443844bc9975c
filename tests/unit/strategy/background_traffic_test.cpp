// Other jobs on the links between switches: how much of the busiest one they take, and where that shows.
#include "sim/strategy/process/background_traffic.hpp"

#include <algorithm>

#include "sim/cluster/background_load.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace background_traffic_test {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;

namespace {

/// Four nodes of one GPU at two leaves with one uplink each.
ClusterSpec two_leaves() {
  ClusterSpec spec = test::star_cluster(4, {12.3e9});
  spec.fabric.kind = "fat_tree";
  spec.fabric.edit<FatTree>() = {.nodes_per_leaf = 2, .uplinks_per_leaf = 1};
  return spec;
}

ClusterSpec at_a(SiteKind kind, ClusterSpec spec) {
  spec.site.kind = kind;
  return spec;
}

SmallPlan slow_network(int gpus) {
  SmallPlan small;
  small.spec = two_leaves();
  small.spec.fabric.link.bandwidth = {1e8};  // so that the step is the all-reduces'
  small.gpus = gpus;
  small.collective = test::forced(nccl::Algorithm::ring, Protocol::simple);
  return small;
}

double step_of(SmallPlan small, double load) {
  small.spec.fabric.background_load = load;
  return run_plan(small, "ddp").last_step_s();
}

}  // namespace

TEST_CASE("the busiest of n links is as loaded as the largest of n exponentials, up to an equal share") {
  CHECK(busiest_link_load(0.05, 0) == 0);
  CHECK(busiest_link_load(0.05, 1) == Approx(0.05));
  CHECK(busiest_link_load(0.05, 4) == Approx(0.05 * (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0)));
  CHECK(busiest_link_load(0.05, 1'000'000) == 0.5);
  CHECK(busiest_link_load(0, 1'000'000'000) == 0);
  CHECK(busiest_link_load(0.9, 1) == 0.5);
}

TEST_CASE("a site's kind says how busy its network is, and the fabric's own figure wins") {
  const ClusterSpec plain = two_leaves();
  CHECK(background_load(plain) == 0);
  const double centre = background_load(at_a(SiteKind::hpc, plain)),
               cloud = background_load(at_a(SiteKind::cloud, plain));
  CHECK(centre > 0);
  CHECK(cloud > centre);
  ClusterSpec slurm = plain;
  slurm.site.system = BatchSystem::slurm;
  CHECK(background_load(slurm) == centre);
  CHECK(background_load(at_a(SiteKind::own, slurm)) == 0);
  slurm.fabric.background_load = 0.2;
  CHECK(background_load(slurm) == 0.2);
}

TEST_CASE("a link between switches carries the job's bytes and so many of others that they fill its share") {
  ClusterSpec spec = two_leaves();
  spec.fabric.background_load = 0.2;
  const Cluster cluster = Cluster::build(spec, 4);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(2, 0), 0);
  std::vector<PatternFlow> flows{{route.links, 3}};
  add_background(flows, cluster, 2);
  // Leaf to spine and spine to leaf: two links, of which the busiest has 0.2 (1 + 1/2) = 30 %.
  REQUIRE(flows.size() == 3);
  CHECK_FALSE(is_background(flows[0], cluster));
  for (const std::size_t i : {1, 2}) {
    CHECK(is_background(flows[i], cluster));
    CHECK(flows[i].weight == Approx(3 * 0.3 / 0.7));
  }
}

TEST_CASE("within one leaf, and on a star, there is nothing to share") {
  CHECK(step_of(slow_network(2), 0.3) == step_of(slow_network(2), 0));
  SmallPlan star = slow_network(4);
  star.spec.fabric = test::star_fabric(star.spec.fabric.link);
  CHECK(step_of(star, 0.3) == step_of(star, 0));
}

TEST_CASE("links between switches are those of the whole job: up and down of two leaves are four") {
  ClusterSpec spec = two_leaves();
  spec.fabric.background_load = 0.12;
  const Cluster cluster = Cluster::build(spec, 4);
  const Communicator ring(cluster, place_packed(4, 1), test::forced(nccl::Algorithm::ring, Protocol::simple));
  CHECK(ring.links_between_switches(ring.plan(CollectiveOp::all_reduce, {100'000'000})).size() == 4);
  const Communicator inside(cluster, place_packed(2, 1));
  CHECK(inside.links_between_switches(inside.plan(CollectiveOp::all_reduce, {100'000'000})).empty());
}

TEST_CASE("across leaves an all-reduce gets what others leave of the uplink") {
  // A ring over four nodes crosses four links between switches, of which the busiest has
  // 0.12 (1 + 1/2 + 1/3 + 1/4) = 25 %. An uplink is as fast as an adapter, so the message lasts 1 / (1 -
  // 0.25) times as long.
  const double alone = step_of(slow_network(4), 0), shared = step_of(slow_network(4), 0.12);
  CHECK(shared / alone == Approx(1 / (1 - 0.25)).epsilon(0.01));
}

}  // namespace background_traffic_test
