// What tools print of PCI devices and of the ports of adapters: lspci in all its forms, ibstat, ibv_devinfo.
#include "sim/cluster/cluster.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/machine_texts.hpp"

namespace machine_pci_formats_test {

using namespace foretrain;
using test::cluster, test::count, test::first, test::machine, test::mistake_in;

namespace {

// Two GPUs and a card with two ports below a switch of the second socket, one GPU at the first.
const std::string kPciTree =
    "$ lspci -tv\n"
    "-+-[0000:80]-+-00.0  Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex\n"
    " |           +-01.1-[81-86]----00.0-[82-86]--+-00.0-[83]----00.0  NVIDIA Corporation GA100 [A100 SXM4 "
    "40GB]\n"
    " |           |                               +-04.0-[84]----00.0  NVIDIA Corporation GA100 [A100 SXM4 "
    "40GB]\n"
    " |           |                               \\-08.0-[85]--+-00.0  Mellanox Technologies MT28908 Family "
    "[ConnectX-6]\n"
    " |           |                                            \\-00.1  Mellanox Technologies MT28908 Family "
    "[ConnectX-6]\n"
    " |           \\-07.1-[87]--+-00.0  NVIDIA Corporation Device 1af1\n"
    " |                        \\-00.3  Advanced Micro Devices, Inc. [AMD] Starship USB 3.0 Host Controller\n"
    " \\-[0000:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex\n"
    "             +-01.1-[01]----00.0  NVIDIA Corporation GA100 [A100 SXM4 40GB]\n"
    "             \\-03.1-[02]----00.0  ASPEED Technology, Inc. ASPEED Graphics Family\n";

const std::string kIbstat =
    "CA 'mlx5_0'\n\tCA type: MT4123\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n"
    "\t\tPhysical state: LinkUp\n\t\tRate: 200\n\t\tLink layer: InfiniBand\n"
    "CA 'mlx5_1'\n\tCA type: MT4125\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down\n"
    "\t\tPhysical state: Disabled\n\t\tRate: 40\n\t\tLink layer: Ethernet\n";

}  // namespace

TEST_CASE("a tree of lspci becomes sockets, switches, GPUs and ports") {
  const Machine seen = machine(kPciTree);
  CHECK(seen.place == FactPlace{"m.txt", 2});
  CHECK(count(seen, PartKind::socket) == 2);
  CHECK(gpus_of(seen) == 3);
  CHECK(count(seen, PartKind::adapter) == 2);
  CHECK(first(seen, PartKind::gpu).bus == "0000:01:00.0");
  const ClusterSpec spec = cluster(seen, {"", 0, 2, ""});
  CHECK(spec.node.gpu.name == "a100-sxm4-40gb");
  CHECK(spec.fabric.link.name == "ib_hdr");
  const Cluster built = Cluster::build(spec, 1);
  CHECK(path_class(built, built.gpu(0, 1), built.nic(0, 0)) == PathClass::pxb);
  CHECK(host_path_class(built, built.gpu(0, 1), built.gpu(0, 2)) == PathClass::pix);
  CHECK(host_path_class(built, built.gpu(0, 0), built.gpu(0, 1)) == PathClass::sys);
}

TEST_CASE("a tree of lspci with numbers or behind an indentation is the same machine") {
  std::string indented = kPciTree.substr(kPciTree.find('\n') + 1), out;
  for (std::size_t at = 0; at < indented.size();) {
    const std::size_t end = indented.find('\n', at);
    out += "    " + indented.substr(at, end - at + 1);
    at = end + 1;
  }
  CHECK(machine(out).parts == machine(kPciTree).parts);
  const Machine numbers =
      machine("-[0000:00]-+-00.0  8086:2020\n           \\-01.0-[01]----00.0  10de:2330\n");
  CHECK(first(numbers, PartKind::gpu).pci_device == "10de:2330");
  CHECK(
      cluster(
          machine("-[0000:00]-+-00.0  Intel Corporation Device [8086:2020]\n"
                  "           \\-01.0-[01]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330]\n"))
          .node.gpu.name == "h100-sxm5-80gb");
}

TEST_CASE("a branch of a tree that comes from nowhere is refused with its place") {
  CHECK_THAT(
      mistake_in(
          "-[0000:00]-+-00.0  Intel\n      +-01.0-[01]----00.0  NVIDIA Corporation GA100 [A100 SXM4 40GB]\n"),
      ContainsSubstring("m.txt:2:7") && ContainsSubstring("comes from nowhere"));
  CHECK_THAT(mistake_in("-[0000:00]-+-00.0-[01\n"), ContainsSubstring("a bus without its end"));
}

TEST_CASE("a list of lspci tells devices, with details their sockets and lanes") {
  const Machine seen = machine(
      "00:00.0 Host bridge [0600]: Intel Corporation Sky Lake-E DMI3 Registers [8086:2020] (rev 04)\n"
      "03:00.0 VGA compatible controller [0300]: ASPEED Technology, Inc. ASPEED Graphics Family [1a03:2000] "
      "(rev 41)\n"
      "1a:00.0 3D controller [0302]: NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB] [10de:1db6] (rev a1)\n"
      "\tNUMA node: 0\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported\n"
      "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
      "1a:00.1 Audio device [0403]: NVIDIA Corporation High Definition Audio [10de:10f0]\n"
      "3b:00.0 Infiniband controller [0207]: Mellanox Technologies MT27800 Family [ConnectX-5] [15b3:1017]\n"
      "5e:00.0 Ethernet controller [0200]: Mellanox Technologies MT27710 Family [ConnectX-4 Lx] [15b3:1015]\n"
      "af:00.0 3D controller [0302]: NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB] [10de:1db6] (rev a1)\n"
      "\tNUMA node: 1\n");
  CHECK(gpus_of(seen) == 2);
  CHECK(count(seen, PartKind::socket) == 2);
  CHECK(count(seen, PartKind::adapter) == 1);  // 25 Gb/s beside 100 is for management
  CHECK(first(seen, PartKind::gpu).generation == 3);
  CHECK(first(seen, PartKind::gpu).lanes == 8);
  CHECK(cluster(seen).node.gpu.name == "v100-pcie-32gb");
  const Machine plain =
      machine("07:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)\n");
  CHECK(cluster(plain).node.gpu.name == "a100-pcie-80gb");
  CHECK(gpus_of(machine("07:00.0 0302: 10de:20f1 (rev a1)\n08:00.0 0680: 10de:1af1\n")) == 1);
  CHECK(cluster(
            machine("c1:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 "
                    "[Instinct MI250X/MI250] (rev 01)\n"))
            .node.gpu.name == "mi250x");
}

TEST_CASE("virtual functions stand for ports only where no port is seen") {
  const std::string gpu = "07:00.0 0302: 10de:20b0\n", virtual_one = "21:00.0 0207: 15b3:101c\n";
  CHECK(count(machine(gpu + virtual_one), PartKind::adapter) == 1);
  CHECK(count(machine(gpu + virtual_one + "20:00.0 0207: 15b3:101b\n"), PartKind::adapter) == 1);
}

TEST_CASE("ibstat and ibv_devinfo tell adapters, models and rates, and ports that are down") {
  const Machine seen = machine(kIbstat);
  REQUIRE(count(seen, PartKind::adapter) == 1);
  CHECK(first(seen, PartKind::adapter).name == "mlx5_0");
  CHECK(first(seen, PartKind::adapter).pci_device == "15b3:101b");
  CHECK(first(seen, PartKind::adapter).network_gbps == 200);
  CHECK(seen.remarks == std::vector<std::string>{"mlx5_1 is left out: its port is down"});
  const Machine verbose = machine(
      "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand "
      "(0)\n\tvendor_id:\t\t\t0x02c9\n\tvendor_part_id:\t\t\t4129\n"
      "\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tlink_layer:\t\tEthernet\n"
      "\t\t\tactive_width:\t\t4X (2)\n\t\t\tactive_speed:\t\t100.0 Gbps (128)\n");
  CHECK(first(verbose, PartKind::adapter).pci_device == "15b3:1021");
  CHECK(cluster(verbose, {"h100-sxm5-80gb", 8, 4, ""}).fabric.link.name == "roce_400");
  const Machine status = machine(
      "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
      "\trate:\t\t 100 Gb/sec (4X EDR)\n\tlink_layer:\t InfiniBand\n");
  CHECK(first(status, PartKind::adapter).network_gbps == 100);
  CHECK_THAT(mistake_in("CA 'mlx5_0'\n\tCA type: MT4123\n"),
             ContainsSubstring("m.txt:1:1") && ContainsSubstring("no port"));
}

TEST_CASE("rates of ibstat go to the ports that another file places") {
  const std::string matrix =
      "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tSYS\tPIX\nGPU1\tSYS\t X \tSYS\nNIC0\tPIX\tSYS\t X \nLegend:\n  NIC0: "
      "mlx5_0\n";
  const Machine both = joined({machine(matrix, "topo.txt"), machine(kIbstat, "ib.txt")});
  CHECK(count(both, PartKind::adapter) == 1);
  CHECK(first(both, PartKind::adapter).network_gbps == 200);
  const Machine tree = joined({machine(kPciTree, "pci.txt"), machine(kIbstat, "ib.txt")});
  CHECK(count(tree, PartKind::adapter) == 2);
  CHECK(first(tree, PartKind::adapter).name == "mlx5_0");  // by its model
  CHECK(first(tree, PartKind::adapter).network_gbps == 200);
  CHECK(tree.family == HostFamily::amd);
  const Machine listed =
      joined({machine("GPU 0: NVIDIA L4 (UUID: x)\n", "l.txt"), machine(kIbstat, "ib.txt")});
  CHECK(count(listed, PartKind::adapter) == 1);
  CHECK(cluster(listed).fabric.link.name == "ib_hdr");
}

}  // namespace machine_pci_formats_test
