// Path classes between devices, the nearest NIC, and which traffic is staged.

#include "sim/cluster/path_class.hpp"

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/route_text.hpp"
#include "tests/support/test_clusters.hpp"

namespace path_class_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Two sockets: gpu0 and nic0 behind switch0, gpu1 behind switch1, both below switch2 of cpu0; gpu2 and nic1
/// at cpu1; gpu3 at cpu2 of the same socket as cpu1.
ClusterSpec every_distance() {
  ClusterSpec spec;
  spec.name = "distances";
  spec.nodes = 2;
  spec.node.gpus = 4, spec.node.cpus = 3, spec.node.switches = 3, spec.node.nics = 2;
  spec.node.gpu = v100();
  spec.node.host = test_host();
  for (const auto& [a, b] : {std::pair{"gpu0", "switch0"},
                             {"nic0", "switch0"},
                             {"gpu1", "switch1"},
                             {"switch0", "switch2"},
                             {"switch1", "switch2"},
                             {"switch2", "cpu0"},
                             {"gpu2", "cpu1"},
                             {"nic1", "cpu1"},
                             {"gpu3", "cpu2"}})
    spec.node.links.push_back(connect(a, b, pcie3()));
  spec.node.links.push_back(connect("cpu0", "cpu1", upi()));
  spec.node.links.push_back(connect("cpu1", "cpu2", pcie3()));
  spec.fabric = test::star_fabric(hdr100());
  return spec;
}

Cluster built(const ClusterSpec& spec) {
  REQUIRE(check(spec).empty());
  return Cluster::build(spec, spec.nodes);
}

std::string to_gpu(const Cluster& cluster, int a, int b) {
  return std::string(name_of(path_class(cluster, cluster.gpu(0, a), cluster.gpu(0, b))));
}
std::string to_nic(const Cluster& cluster, int gpu, int nic) {
  return std::string(name_of(path_class(cluster, cluster.gpu(0, gpu), cluster.nic(0, nic))));
}

}  // namespace

TEST_CASE("a way over PCIe is classed by the switches, CPUs and socket links on it") {
  const Cluster cluster = built(every_distance());
  CHECK(to_gpu(cluster, 0, 0) == "LOC");
  CHECK(to_nic(cluster, 0, 0) == "PIX");
  CHECK(to_gpu(cluster, 0, 1) == "PXB");
  CHECK(to_nic(cluster, 1, 0) == "PXB");
  CHECK(to_nic(cluster, 2, 1) == "PHB");
  CHECK(to_gpu(cluster, 2, 3) == "PHB");  // two CPUs, no socket link between them
  CHECK(to_gpu(cluster, 0, 2) == "SYS");
  CHECK(path_class(cluster, cluster.gpu(0, 0), cluster.gpu(1, 0)) == PathClass::net);
  CHECK(path_class(cluster, cluster.gpu(1, 0), cluster.gpu(1, 1)) == PathClass::pxb);  // node 1 like node 0
}

TEST_CASE("GPUs of a DGX-1 are joined by NVLink, directly or through one other GPU") {
  const Cluster cluster = built(cube_mesh_node());
  CHECK(to_gpu(cluster, 0, 4) == "NVL");
  CHECK(to_gpu(cluster, 0, 5) == "NVB");
  CHECK(to_gpu(cluster, 3, 7) == "NVL");
  CHECK(to_gpu(cluster, 3, 4) == "NVB");
}

TEST_CASE("NVSwitch is NVLink, and NVLink to a CPU is C2C") {
  ClusterSpec spec = nvswitch_node();
  CHECK(to_gpu(built(spec), 0, 7) == "NVL");
  spec.node.links[0] = connect("gpu0", "cpu0", link_type("c2c", LinkKind::nvlink, 450, 0.7));
  const Cluster cluster = built(spec);
  CHECK(path_class(cluster, cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0)) == PathClass::c2c);
  CHECK(path_class(cluster, cluster.gpu(0, 1), cluster.cpu_of_gpu(0, 1)) == PathClass::phb);
}

TEST_CASE("a far NIC is reached over a peer that is near it, in that direction only") {
  const Cluster cluster = built(
      nvlink_cluster(2, 2));  // gpu0, gpu1 and nic0 behind one switch, gpu2, gpu3 and nic1 behind the other
  CHECK(to_nic(cluster, 0, 0) == "PIX");
  CHECK(to_nic(cluster, 0, 1) == "PXN");
  CHECK(path_class(cluster, cluster.nic(0, 1), cluster.gpu(0, 0)) == PathClass::sys);
  CHECK(host_path_class(cluster, cluster.gpu(0, 0), cluster.nic(0, 1)) == PathClass::sys);
}

TEST_CASE("a GPU takes the nearest NIC") {
  const Cluster cluster = built(every_distance());
  CHECK(nearest_nic(cluster, 0) == 0);
  CHECK(nearest_nic(cluster, 1) == 0);
  CHECK(nearest_nic(cluster, 2) == 1);
  CHECK(nearest_nic(cluster, 3) == 1);
  CHECK(nearest_nic(built(plain_node(2, v100())), 0) == -1);
}

TEST_CASE("GPUs with the same nearest NICs take them in turn") {
  ClusterSpec spec = nvlink_cluster(2, 2);
  for (NodeLink& link : spec.node.links) {
    if (link.a == "nic1") link.b = "switch0";
  }
  const Cluster cluster = built(spec);  // both NICs beside gpu0 and gpu1, far from gpu2 and gpu3
  CHECK(nearest_nic(cluster, 0) == 0);
  CHECK(nearest_nic(cluster, 1) == 1);
  CHECK(nearest_nic(cluster, 2) == 0);
  CHECK(nearest_nic(cluster, 3) == 1);
}

TEST_CASE("peers read each other's memory as far as the CPUs are trusted") {
  NodeSpec node;
  node.host.family = HostFamily::amd;
  CHECK(peer_reach(node) == PathClass::sys);
  node.host.family = HostFamily::power9;
  CHECK(peer_reach(node) == PathClass::sys);
  for (const HostFamily family :
       {HostFamily::intel_broadwell, HostFamily::intel_skylake, HostFamily::intel_sapphire_rapids,
        HostFamily::intel_emerald_rapids, HostFamily::arm}) {
    node.host.family = family;
    CHECK(peer_reach(node) == PathClass::pxb);
  }
  node.peer_access = false;
  CHECK(peer_reach(node) == PathClass::loc);
}

TEST_CASE("on Intel CPUs GPUs of two root complexes exchange data through host memory") {
  ClusterSpec spec = every_distance();
  spec.node.host.family = HostFamily::intel_skylake;
  const Cluster intel = built(spec);
  CHECK_FALSE(intel.route(intel.gpu(0, 0), intel.gpu(0, 1)).staged);  // PXB
  CHECK(intel.route(intel.gpu(0, 2), intel.gpu(0, 3)).staged);        // PHB
  CHECK(intel.route(intel.gpu(0, 0), intel.gpu(0, 2)).staged);        // SYS
  spec.node.host.family = HostFamily::amd;
  const Cluster amd = built(spec);
  CHECK_FALSE(amd.route(amd.gpu(0, 0), amd.gpu(0, 2)).staged);
}

TEST_CASE(
    "a NIC within reach has the direct way, one beyond it the way through host memory, on each side for "
    "itself") {
  ClusterSpec spec = every_distance();
  const Cluster cluster = built(spec);
  CHECK(cluster.gpudirect(0, 0));
  CHECK(cluster.gpudirect(1, 0));
  CHECK_FALSE(cluster.gpudirect(2, 1));  // PHB is beyond PXB
  const Route near = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CHECK_FALSE(near.staged);
  CHECK(route_text(cluster, near) == "gpu0@0 switch0@0 nic0@0 leaf0 nic0@1 switch0@1 gpu0@1");
  const Route mixed = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 2), 0, 1);
  CHECK(mixed.staged);
  CHECK(route_text(cluster, mixed) ==
        "gpu0@0 switch0@0 nic0@0 leaf0 nic1@1 cpu1@1 gpu2@1 gpu2@1");  // the last link is gpu2's staging
}

TEST_CASE(
    "without GPUDirect the way leads up to the CPU and down again, over the staging links of both GPUs") {
  ClusterSpec spec = every_distance();
  spec.node.gpudirect = false;
  const Cluster cluster = built(spec);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CHECK(route.staged);
  CHECK(route_text(cluster, route) ==
        "gpu0@0 gpu0@0 switch0@0 switch2@0 cpu0@0 switch2@0 switch0@0 nic0@0 leaf0 nic0@1 switch0@1 "
        "switch2@1 cpu0@1 switch2@1 "
        "switch0@1 "
        "gpu0@1 gpu0@1");
  CHECK(route.bandwidth.per_second ==
        Approx(12.3e9 * kRootComplexShare));  // of the PCIe link, less than HDR100's 12.3
}

TEST_CASE("staging does not slow down a network that is slow already") {
  ClusterSpec spec = every_distance();
  spec.node.gpudirect = false;
  spec.fabric.link.bandwidth = {3e9}, spec.fabric.link.collective_efficiency = 0.9;
  const Cluster cluster = built(spec);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CHECK(route.bandwidth == ByteRate{3e9});
  CHECK(route.collective_efficiency ==
        Approx(0.9));  // one way staging takes 0.64 of PCIe, 7.9 GB/s, more than the network's 2.7
}

TEST_CASE("the reach of GPUDirect is a setting") {
  ClusterSpec spec = every_distance();
  spec.node.gpudirect_reach = PathClass::phb;
  const Cluster cluster = built(spec);
  CHECK(cluster.gpudirect(2, 1));
  CHECK_FALSE(cluster.gpudirect(0, 1));
  CHECK_FALSE(cluster.route_between_nodes(cluster.gpu(0, 2), cluster.gpu(1, 2), 1).staged);
}

}  // namespace path_class_test
