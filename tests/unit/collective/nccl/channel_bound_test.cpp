// How many channels fit at most, counted by hand on small nodes; what a link has left once channels are laid.
#include "sim/collective/nccl/graph_search.hpp"
#include "sim/collective/nccl/node_graphs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/support/test_clusters.hpp"

namespace channel_bound_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

std::vector<int> first_gpus(int count) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < count; ++gpu) gpus.push_back(gpu);
  return gpus;
}

NodeMap map_of(const ClusterSpec& spec, bool several = false) {
  return NodeMap::build({spec.node, spec.fabric.link, first_gpus(spec.node.gpus), several, Settings{}});
}

/// Of one speed inside and between, over paths as far as a socket link.
Ceiling bound(const NodeMap& map, Pattern pattern, Milli speed, PathClass farthest = PathClass::sys) {
  ChannelRequest request;
  request.pattern = pattern, request.intra = request.inter = speed;
  request.type_intra = farthest, request.type_inter = PathClass::sys;
  request.max_channels = 32;
  return ChannelBound(map).of(request);
}

/// What a search finds of the same, whatever bound it is told.
int found(const NodeMap& map, Pattern pattern, Milli speed, PathClass farthest = PathClass::sys) {
  ChannelRequest request;
  request.pattern = pattern, request.intra = request.inter = speed;
  request.type_intra = farthest, request.type_inter = PathClass::sys;
  request.max_channels = 32, request.same_channels = false;
  ChannelSet best;
  best.request = request;
  search_channels(map, request, {32, 0}, 1 << 14, best);
  return best.channels;
}

}  // namespace

TEST_CASE("rings leave every GPU of a mesh by its NVLinks, trees have one edge less than GPUs") {
  // Four V100, two links of 20 GB/s to each other one: six links out of each, 24 in all.
  const NodeMap map = map_of(mesh_node(4, v100(), nvlink2(), 2));
  CHECK(bound(map, Pattern::ring, 20'000, PathClass::nvl).channels == 6);
  CHECK(bound(map, Pattern::ring, 40'000, PathClass::nvl).channels == 3);
  CHECK(bound(map, Pattern::ring, 10'000, PathClass::nvl).channels == 12);
  CHECK(bound(map, Pattern::balanced_tree, 20'000, PathClass::nvl).channels == 8);
  CHECK(bound(map, Pattern::ring, 20'000, PathClass::nvl).hops_per_channel == 4);
  CHECK(bound(map, Pattern::balanced_tree, 20'000, PathClass::nvl).hops_per_channel == 3);
}

TEST_CASE("the GPU with the fewest NVLinks bounds the rings") {
  ClusterSpec spec = plain_node(3, v100());
  spec.node.links = {connect("gpu0", "gpu1", nvlink2(), 3), connect("gpu1", "gpu2", nvlink2(), 1),
                     connect("gpu2", "gpu0", nvlink2(), 1)};
  CHECK(bound(map_of(spec), Pattern::ring, 20'000, PathClass::nvl).channels == 2);
  CHECK(bound(map_of(spec), Pattern::tree, 20'000, PathClass::nvl).channels == 5);  // ten links, two edges
}

TEST_CASE("channels between sockets share the link between them") {
  ClusterSpec spec = two_socket_node(2);              // 12.3 GB/s over PCIe
  spec.node.host.family = HostFamily::intel_skylake;  // 10 between sockets
  const NodeMap map = map_of(spec);
  CHECK(bound(map, Pattern::ring, 10'000).channels == 1);
  CHECK(bound(map, Pattern::ring, 5'000).channels == 2);
  CHECK(bound(map, Pattern::ring, 2'000).channels == 5);
  CHECK(bound(map, Pattern::ring, 11'000).channels == 0);  // none gets across
  CHECK(bound(map, Pattern::ring, 2'000, PathClass::phb).channels == 0);
}

TEST_CASE("channels between nodes share the ports of the adapters") {
  const NodeMap one = map_of(nvlink_cluster(2, 1), true), two = map_of(nvlink_cluster(2, 2), true);
  CHECK(bound(one, Pattern::ring, 12'000).channels == 1);
  CHECK(bound(one, Pattern::ring, 6'000).channels == 2);
  CHECK(bound(two, Pattern::ring, 12'000).channels == 2);
  CHECK(bound(two, Pattern::tree, 3'000).channels == 8);
}

TEST_CASE("no search finds more channels than the bound says") {
  for (const ClusterSpec& spec : {mesh_node(4, v100(), nvlink2(), 2), two_socket_node(2), cube_mesh_node()}) {
    const NodeMap map = map_of(spec);
    for (const Pattern pattern : {Pattern::ring, Pattern::tree, Pattern::balanced_tree}) {
      for (const Milli speed : {3'000, 5'000, 10'000, 20'000}) {
        for (const PathClass farthest : {PathClass::nvl, PathClass::sys}) {
          CAPTURE(spec.name, name_of(pattern), speed);
          CHECK(found(map, pattern, speed, farthest) <= bound(map, pattern, speed, farthest).channels);
        }
      }
    }
  }
}

TEST_CASE("a circle of 64 GPUs is two rings of its NVLinks, one each way") {
  ClusterSpec spec = plain_node(64, v100());
  for (int gpu = 0; gpu < 64; ++gpu)
    spec.node.links.push_back(
        connect("gpu" + std::to_string(gpu), "gpu" + std::to_string((gpu + 1) % 64), nvlink2(), 1));
  const GraphResult ring = search_graph(map_of(spec), {Pattern::ring, 1, 16, CrossNic::automatic, Version{}});
  CHECK(ring.type_intra == PathClass::nvl);
  CHECK(ring.channels * ring.bw_intra == 2 * 20);
}

TEST_CASE(
    "traffic into an old GPU also books an eighth of the other direction, and all of it is given back") {
  LinkBudget budget({800, 800});
  NodePath path;
  path.steps = {{0, 1, false, ReverseTraffic::eighth}}, path.reachable = true;
  NodePath back;
  back.steps = {{1, 0, false, ReverseTraffic::none}}, back.reachable = true;
  REQUIRE(budget.take(path, 640));
  CHECK_FALSE(budget.take(path, 161));
  CHECK_FALSE(budget.take(back, 721));  // 640 / 8 = 80 are booked
  CHECK(budget.take(back, 720));
  budget.give_back(back, 720), budget.give_back(path, 640);
  CHECK(budget.hops() == 0);
  CHECK(budget.take(back, 800));
}

TEST_CASE("traffic through an Intel root complex books six fifths of PCIe") {
  LinkBudget budget({1200, 1200});
  NodePath path;
  path.steps = {{0, 1, true, ReverseTraffic::none}}, path.reachable = path.through_intel_root = true;
  CHECK_FALSE(budget.take(path, 1001));
  CHECK(budget.take(path, 1000));
}

TEST_CASE("CollNet came with NCCL 2.7, for several nodes of a fabric that reduces, where it is enabled") {
  ClusterSpec spec = nvlink_cluster(2, 2);
  spec.fabric.in_network_reduction = true;
  Settings settings;
  settings.collnet = true;
  const auto has = [&](Version version, bool several) {
    settings.version = version;
    return has_collnet(question_of(spec, first_gpus(4), several, settings));
  };
  CHECK_FALSE(has({2, 6, 99}, true));
  CHECK(has({2, 7, 0}, true));
  CHECK(has({2, 30, 0}, true));
  CHECK_FALSE(has({2, 20, 5}, false));
  settings.collnet = false;
  CHECK_FALSE(has({2, 20, 5}, true));
}

TEST_CASE("peers of a node count the NVLinks of its narrowest pair") {
  const auto links = [](const ClusterSpec& spec) {
    return search_node(question_of(spec, first_gpus(spec.node.gpus), false, {})).nvlinks;
  };
  CHECK(links(mesh_node(4, v100(), nvlink2(), 2)) == 2);
  CHECK(links(nvswitch_node()) == 12);
  ClusterSpec uneven = plain_node(3, v100());
  uneven.node.links = {connect("gpu0", "gpu1", nvlink2(), 3), connect("gpu1", "gpu2", nvlink2(), 1),
                       connect("gpu2", "gpu0", nvlink2(), 2)};
  CHECK(links(uneven) == 1);
}

}  // namespace channel_bound_test
