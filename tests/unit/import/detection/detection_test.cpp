// Machines from recorded trees: boxes that are known against the catalog, a server with what goes wrong.
#include "sim/import/detection/detection.hpp"

#include "sim/cluster/cluster.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/import/detection/pci_bus.hpp"
#include "sim/import/detection/processors.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/detection/recorded_tree.hpp"

namespace detection_test {

using namespace foretrain;
using test::kBridgeClass;
using test::kEpyc;
using test::kEthernetClass;
using test::kGpuClass;
using test::kIceLake;
using test::kInfinibandClass;
using test::RecordedLink;
using test::RecordedTree;

namespace {

/// Four PCIe switches, two at each socket; below each two GPUs and some adapters, at downstream ports of one
/// model.
void add_box(const RecordedTree& tree, const std::string& gpu, int adapters, const std::string& adapter,
             const std::string& rate, const RecordedLink& link) {
  tree.write("proc/meminfo", "MemTotal:       1056000000 kB");
  for (int i = 0; i < 4; ++i) {
    const int numa = i / 2;
    const std::string port = tree.pci(fmt::format("pci0000:{}0", i), fmt::format("0000:{}0:01.0", i),
                                      kBridgeClass, "1022:1483", numa, link);
    const std::string up =
        tree.pci(port, fmt::format("0000:{}1:00.0", i), kBridgeClass, "1000:c010", numa, link);
    for (int device = 0; device < 2 + adapters; ++device) {
      const std::string down =
          tree.pci(up, fmt::format("0000:{}2:{:02x}.0", i, device), kBridgeClass, "1000:c010", numa, link);
      const std::string address = fmt::format("0000:{}{}:00.0", i, device + 3);
      if (device < 2) {
        tree.pci(down, address, kGpuClass, gpu, numa, link);
        continue;
      }
      const std::string card = tree.pci(down, address, kInfinibandClass, adapter, numa, link);
      tree.rdma(card, fmt::format("mlx5_{}", i * adapters + device - 2), rate, "4: ACTIVE");
    }
  }
}

ClusterSpec cluster_from(const Machine& machine, const ImportAnswers& answers = {}) {
  return read_or_throw(SourceText{"detected", cluster_of(machine, answers).text}, read_cluster);
}

double all_reduce_s(const ClusterSpec& spec, int nodes) {
  const Placement placement = place_packed(nodes * spec.node.gpus, spec.node.gpus);
  const Cluster cluster = Cluster::build(spec, nodes);
  return to_seconds(Communicator(cluster, placement).plan(CollectiveOp::all_reduce, Bytes{64 << 20}).alone);
}

/// Classes of all ways from GPUs, as one text.
std::string ways(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, 1);
  std::string out;
  for (int gpu = 0; gpu < spec.node.gpus; ++gpu) {
    for (int other = 0; other < spec.node.gpus; ++other)
      out += fmt::format("{} ", name_of(path_class(cluster, cluster.gpu(0, gpu), cluster.gpu(0, other))));
    for (int nic = 0; nic < spec.node.nics; ++nic)
      out += fmt::format("{} ", name_of(path_class(cluster, cluster.gpu(0, gpu), cluster.nic(0, nic))));
    out += "\n";
  }
  return out;
}

/// Two GPUs at each socket without switches, a good adapter at the second socket, one that is down at the
/// first, one Ethernet port for management.
void add_server(const RecordedTree& tree) {
  tree.processors(2, 24, kIceLake);
  tree.write("proc/meminfo", "MemFree: 1 kB\nMemTotal:       526000000 kB");
  for (int i = 0; i < 4; ++i) {
    const RecordedLink link{i == 3 ? 8 : 16, 16, "2.5 GT/s PCIe", "16.0 GT/s PCIe"};  // idle GPUs slow down
    const std::string port =
        tree.pci(fmt::format("pci0000:{}0", i), fmt::format("0000:{}0:02.0", i), kBridgeClass, "8086:347a",
                 i / 2, {16, 16, "2.5 GT/s PCIe", "32.0 GT/s PCIe"});
    tree.pci(port, fmt::format("0000:{}1:00.0", i), kGpuClass, "10de:26b9", i / 2, link);
  }
  const auto card = [&](const std::string& bus, const char* type, const std::string& id, int numa,
                        const RecordedLink& link) {
    const std::string port =
        tree.pci("pci0000:" + bus, "0000:" + bus + ":02.0", kBridgeClass, "8086:347a", numa);
    return tree.pci(port, fmt::format("0000:{}1:00.0", bus.substr(0, 1)), type, id, numa, link);
  };
  const std::string good =
      card("80", kEthernetClass, "15b3:101d", 1, {16, 16, "8.0 GT/s PCIe", "16.0 GT/s PCIe"});
  tree.rdma(good, "mlx5_1", "100 Gb/sec (4X EDR)", "4: ACTIVE");
  tree.net(good, "ens1np0", "100000", "up");
  tree.rdma(card("90", kInfinibandClass, "15b3:101b", 0, {}), "mlx5_0", "10 Gb/sec (4X SDR)", "1: DOWN");
  tree.net(card("a0", kEthernetClass, "8086:1563", 0, {4, 4, "8.0 GT/s PCIe", "8.0 GT/s PCIe"}), "eno1",
           "1000", "up");
  tree.net(card("b0", kEthernetClass, "8086:1563", 0, {4, 4, "8.0 GT/s PCIe", "8.0 GT/s PCIe"}), "eno2", "-1",
           "down");
  tree.pci("pci0000:c0", "0000:c0:00.0", "0x030000", "1a03:2000", 0);  // the console's screen
}

std::vector<std::string> doubts_in(const Machine& machine) {
  std::vector<std::string> out;
  for (const MachineWarning& doubt : machine.doubts) out.push_back(doubt.what);
  return out;
}

}  // namespace

TEST_CASE("a recorded DGX A100 has the graph of the one in the catalog") {
  const RecordedTree tree;
  tree.processors(2, 64, kEpyc);
  add_box(tree, "10de:20b0", 2, "15b3:101b", "200 Gb/sec (4X HDR)", {});
  const DetectedMachine detected = detected_machine(tree.root());
  CHECK(detected.machine.doubts.empty());
  CHECK(detected.machine.cores == 128);
  CHECK(detected.machine.memory.count == std::int64_t{1056000000} << 10);
  const ClusterSpec spec = cluster_from(detected.machine, {"", 0, 2, ""}), known = open_cluster("dgx-a100");
  CHECK(spec.node.gpu.name == "a100-sxm4-40gb");
  CHECK(spec.node.switches == 4);
  CHECK(spec.node.nics == 8);
  CHECK(spec.fabric.link.name == "ib_hdr");
  CHECK(spec.node.host.family == HostFamily::amd);
  CHECK(ways(spec) == ways(known));
  CHECK(all_reduce_s(spec, 1) == Approx(all_reduce_s(known, 1)).epsilon(0.05));
  CHECK(all_reduce_s(spec, 2) == Approx(all_reduce_s(known, 2)).epsilon(0.05));
}

TEST_CASE("a recorded DGX-1 has the cube mesh of its board, which no file of the tree tells") {
  const RecordedTree tree;
  tree.processors(2, 20, kEpyc);
  add_box(tree, "10de:1db1", 1, "15b3:1013", "100 Gb/sec (4X EDR)",
          {16, 16, "8.0 GT/s PCIe", "8.0 GT/s PCIe"});
  const ImportedCluster text = cluster_of(detected_machine(tree.root()).machine, {"", 0, 2, ""});
  CHECK_THAT(fmt::format("{}", fmt::join(text.assumptions, "\n")),
             ContainsSubstring("NVLinks: as boards with v100-sxm2-16gb have them"));
  const ClusterSpec spec = read_or_throw(SourceText{"detected", text.text}, read_cluster),
                    known = open_cluster("dgx1-v100");
  CHECK(ways(spec) == ways(known));
  CHECK(all_reduce_s(spec, 1) == Approx(all_reduce_s(known, 1)).epsilon(0.05));
}

TEST_CASE("a recorded server of two sockets is read, and what is wrong with it is said with the file") {
  const RecordedTree tree;
  add_server(tree);
  const DetectedMachine detected = detected_machine(tree.root());
  CHECK(doubts_in(detected.machine) == std::vector<std::string>{"mlx5_0 is down (1: DOWN): left out",
                                                                "gpu3 trained 8 of its 16 PCIe lanes",
                                                                "mlx5_1 runs PCIe 3 where both ends can 4"});
  CHECK_THAT(detected.machine.doubts[1].place.file, ContainsSubstring("0000:31:00.0/current_link_width"));
  const ImportedCluster text = cluster_of(detected.machine, {});
  CHECK_THAT(text.text, ContainsSubstring("# Doubtful: gpu3 trained 8 of its 16 PCIe lanes"));
  CHECK_THAT(text.text, ContainsSubstring("gpu = \"l40s\""));
  CHECK(text.doubts.back().what == "gpu3 has PCIe 4 x8, l40s takes 4 x16");
  const ClusterSpec spec = cluster_from(detected.machine, {"", 0, 2, ""});
  CHECK(spec.node.cpus == 2);
  CHECK(spec.node.host.cores == 48);
  CHECK(spec.node.host.family == HostFamily::intel_skylake);
  CHECK(spec.node.switches == 0);
  CHECK(spec.node.nics == 1);  // the port of 1 Gb/s is left out beside one of 100
  CHECK(spec.fabric.link.name == "roce_100");
  CHECK(ways(spec) ==
        "LOC PHB SYS SYS SYS \nPHB LOC SYS SYS SYS \nSYS SYS LOC PHB PHB \nSYS SYS PHB LOC PHB \n");
}

TEST_CASE("a machine without GPUs is seen as one, and describes no cluster by itself") {
  const RecordedTree tree;
  tree.processors(2, 4, kEpyc);
  tree.write("proc/meminfo", "MemTotal: 16000000 kB");
  const Machine machine = detected_machine(tree.root()).machine;
  CHECK(gpus_of(machine) == 0);
  CHECK(machine.of_kind(PartKind::socket).size() == 2);
  CHECK(machine.cores == 8);
  CHECK_THROWS_WITH(cluster_of(machine, {}), ContainsSubstring("no GPU in this machine"));
}

TEST_CASE("devices that Linux puts nowhere hang where hwloc has them, else at the first socket") {
  const RecordedTree tree;
  tree.processors(2, 4, kEpyc);
  tree.pci("pci0000:80", "0000:80:00.0", kGpuClass, "10de:1eb8", -1);
  tree.pci("pci0000:90", "0000:90:00.0", kGpuClass, "10de:1eb8", -1);
  const FileTree files(tree.root());
  const auto sockets_of = [&](const std::map<std::string, int>& told) {
    Machine machine;
    const auto part_of_numa = add_processors(machine, files);
    add_pci_bus(machine, files, part_of_numa, told);
    std::vector<int> parents;
    for (const int gpu : machine.of_kind(PartKind::gpu))
      parents.push_back(machine.parts[static_cast<std::size_t>(gpu)].parent);
    return std::pair(parents, machine.remarks.size());
  };
  CHECK(sockets_of({{"0000:90:00.0", 1}, {"0000:80:00.0", 0}}) == std::pair(std::vector<int>{0, 1}, 0ul));
  CHECK(sockets_of({}) == std::pair(std::vector<int>{0, 0}, 1ul));
}

TEST_CASE("virtual functions, Intel's GPUs and screens are no devices") {
  const RecordedTree tree;
  tree.processors(1, 4, kEpyc);
  tree.pci("pci0000:80", "0000:80:00.0", kGpuClass, "10de:1eb8", 0);
  const std::string function = tree.pci("pci0000:80", "0000:80:00.2", kInfinibandClass, "15b3:101c", 0);
  tree.link("sys/devices/" + function + "/physfn", "../0000:80:00.1");
  tree.pci("pci0000:80", "0000:80:00.1", kInfinibandClass, "15b3:101b", 0);
  const std::string odd = tree.pci("pci0000:80", "0000:80:00.3", kInfinibandClass, "15b3:101b", 0);
  tree.write("sys/devices/" + odd + "/device", "0x101b\nnodes = 7");  // no number: an adapter nobody knows
  tree.pci("pci0000:90", "0000:90:00.0", "0x038000", "8086:0bd5", 0);
  tree.pci("pci0000:a0", "0000:a0:00.0", "0x030000", "1af4:1050", 0);
  const Machine machine = detected_machine(tree.root()).machine;
  CHECK(machine.of_kind(PartKind::gpu).size() == 1);
  CHECK(machine.of_kind(PartKind::adapter).size() == 1);
  REQUIRE(machine.remarks.size() == 1);
  CHECK_THAT(machine.remarks[0], ContainsSubstring("Intel's GPU at 0000:90:00.0 is left out"));
}

TEST_CASE("a folder that holds no machine is refused") {
  const RecordedTree tree;
  CHECK_THROWS_WITH(detected_machine(tree.root()), ContainsSubstring("nothing of a machine"));
  CHECK_THROWS_WITH(detected_machine(tree.root() + "/nowhere"), ContainsSubstring("no such folder"));
}

TEST_CASE("PCI addresses are written as Linux writes them") {
  CHECK(sysfs_address("00000000:07:00.0") == "0000:07:00.0");
  CHECK(sysfs_address("0000:0A:00.0") == "0000:0a:00.0");
  CHECK(sysfs_address("00010000:07:00.0") == "10000:07:00.0");
  CHECK(sysfs_address("nonsense") == "nonsense");
}

}  // namespace detection_test
