// Node layout: how the parts of a node are numbered and named.
#include "sim/cluster/node_layout.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace node_layout_test {

using namespace foretrain;

namespace {

NodeSpec one_of_each() {
  NodeSpec node;
  node.gpus = 2, node.cpus = 1, node.switches = 1, node.nvswitches = 1, node.nics = 2;
  return node;
}

}  // namespace

TEST_CASE("devices are numbered GPUs, CPUs, PCIe switches, NVSwitches, NICs") {
  const NodeSpec node = one_of_each();
  CHECK(first_of(node, VertexKind::gpu) == 0);
  CHECK(first_of(node, VertexKind::cpu) == 2);
  CHECK(first_of(node, VertexKind::pcie_switch) == 3);
  CHECK(first_of(node, VertexKind::nvswitch) == 4);
  CHECK(first_of(node, VertexKind::nic) == 5);
}

TEST_CASE("every device is found by the name it is given") {
  const NodeSpec node = one_of_each();
  const std::vector<std::string> names{"gpu0", "gpu1", "cpu0", "switch0", "nvswitch0", "nic0", "nic1"};
  const NodeGraph graph = node_graph(node);
  REQUIRE(graph.vertices.size() == names.size());
  for (VertexId v = 0; v < names.size(); ++v) {
    CHECK(name_of(graph.vertices[v]) == names[v]);
    CHECK(find_device(node, names[v]) == v);
  }
}

TEST_CASE("switches of the fabric have names too") {
  CHECK(name_of(Vertex{VertexKind::leaf, -1, 3}) == "leaf3");
  CHECK(name_of(Vertex{VertexKind::spine, -1, 0}) == "spine0");
}

TEST_CASE("a name that no device has is not found") {
  const NodeSpec node = one_of_each();
  for (const char* name : {"", "gpu", "gpu2", "gpu-1", "gpu01", "gpu00", "gpu0 ", " gpu0", "GPU0", "gpu1x",
                           "cpu1", "switch1", "leaf0", "nic99999999999"}) {
    INFO(name);
    CHECK_FALSE(find_device(node, name).has_value());
  }
}

TEST_CASE("a connection becomes one link each way with the bandwidth of all its lanes") {
  NodeSpec node = one_of_each();
  node.links = {test::connect("gpu0", "cpu0", test::pcie3()),
                test::connect("gpu1", "gpu0", test::nvlink2(), 3)};
  const NodeGraph graph = node_graph(node);
  REQUIRE(graph.links.size() == 2 * 2 + 2 * kStagingLinks);  // and a GPU's own for staging
  CHECK(graph.links[2].from == 1);
  CHECK(graph.links[2].to == 0);
  CHECK(graph.links[3].from == 0);
  CHECK(graph.links[3].to == 1);
  for (const LinkId id : {2u, 3u}) {
    CHECK(graph.links[id].kind == LinkKind::nvlink);
    CHECK(graph.links[id].bandwidth.per_second == Approx(72.75e9));  // 3 * 24.25
    CHECK(graph.links[id].collective_efficiency == 0.9);
    CHECK(graph.links[id].latency == microseconds(1.8));
  }
}

TEST_CASE(
    "after the connections every GPU has two staging links, shares of its widest way to the host: out and "
    "in") {
  NodeSpec node = one_of_each();
  node.links = {
      test::connect("gpu0", "cpu0", test::pcie3()), test::connect("gpu1", "gpu0", test::nvlink2(), 3),
      test::connect("switch0", "gpu1", test::pcie3()), test::connect("gpu1", "cpu0", test::nvlink2(), 2)};
  const NodeGraph graph = node_graph(node);
  CHECK(graph.first_staging == 2 * 4);
  REQUIRE(graph.links.size() == graph.first_staging + 2 * kStagingLinks);
  for (VertexId gpu = 0; gpu < 2; ++gpu) {
    for (const LinkId id : {graph.staging_out(gpu), graph.staging_in(gpu)}) {
      CHECK(graph.links[id].from == gpu);
      CHECK(graph.links[id].to == gpu);
      CHECK(graph.links[id].latency == Time::zero());
    }
  }
  CHECK(graph.links[graph.staging_out(0)].bandwidth.per_second == Approx(12.3e9 * Gpu{}.staging_share));
  CHECK(graph.links[graph.staging_in(0)].bandwidth.per_second == Approx(12.3e9 * Gpu{}.staging_share));
  // NVLink to the CPU, as POWER9 has.
  CHECK(graph.links[graph.staging_in(1)].bandwidth.per_second == Approx(2 * 24.25e9 * Gpu{}.staging_share));
}

}  // namespace node_layout_test
