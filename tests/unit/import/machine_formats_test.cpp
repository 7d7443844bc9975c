// The formats beside NCCL's, NVIDIA's and Slurm's own: small files as each tool prints them, what is read and
// what is refused with its place.
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/import/machines/amd_links.hpp"
#include "sim/import/machines/infragraph_edges.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace machine_formats_test {

using namespace foretrain;

namespace {

Machine machine(const std::string& text, const std::string& name = "m.txt") {
  return read_machine({name, text});
}

ClusterSpec cluster(const Machine& seen, const ImportAnswers& answers = {}) {
  return read_or_throw(SourceText{"c", cluster_of(seen, answers).text}, read_cluster);
}

std::string mistake_in(const std::string& text) {
  try {
    cluster_of(machine(text), {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::size_t count(const Machine& seen, PartKind kind) { return seen.of_kind(kind).size(); }

const MachinePart& first(const Machine& seen, PartKind kind) {
  return seen.parts[static_cast<std::size_t>(seen.of_kind(kind).front())];
}

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

std::string rocm_matrix(const std::string& title, int gpus, const std::string& cell) {
  std::string out = "=============================== " + title + " ===============================\n       ";
  for (int i = 0; i < gpus; ++i) out += "GPU" + std::to_string(i) + "         ";
  for (int i = 0; i < gpus; ++i) {
    out += "\nGPU" + std::to_string(i) + "   ";
    for (int j = 0; j < gpus; ++j) out += (i == j ? "0" : cell) + "            ";
  }
  return out + "\n\n";
}

std::string rocm(int gpus, const std::string& type) {
  std::string out =
      rocm_matrix("Weight between two GPUs", gpus, type == "XGMI" ? "15" : "40") +
      rocm_matrix("Hops between two GPUs", gpus, type == "XGMI" ? "1" : "2") +
      rocm_matrix("Link Type between two GPUs", gpus, type) +
      "======================================= Numa Nodes =======================================\n";
  for (int i = 0; i < gpus; ++i)
    out += "GPU[" + std::to_string(i) + "]\t\t: (Topology) Numa Node: " + std::to_string(2 * i / gpus) + "\n";
  return out;
}

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

TEST_CASE("rocm-smi tells which GPUs are linked, the catalog how often") {
  const Machine mesh = machine(rocm(8, "XGMI"));
  CHECK(mesh.nvlinks.size() == 28);
  CHECK(count(mesh, PartKind::socket) == 2);
  const ClusterSpec eight = cluster(mesh);
  CHECK(eight.node.gpu.name == "mi300x");
  const NodeLink* link = nullptr;
  for (const NodeLink& one : eight.node.links) link = one.a == "gpu0" && one.b == "gpu7" ? &one : link;
  REQUIRE(link != nullptr);
  CHECK(link->count == 2);  // two halves
  const ClusterSpec apart = cluster(machine(rocm(4, "PCIE")));
  CHECK(is_amd(apart.node.gpu.architecture));
  for (const NodeLink& one : apart.node.links) CHECK(one.type.kind != LinkKind::nvlink);
  const Machine named = machine(rocm(2, "PCIE") + "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI100\n");
  CHECK(cluster(named).node.gpu.name == "mi100");
}

TEST_CASE("dies of an MI250X node are linked as often as the catalog's") {
  const NodeSpec node = open_value(CatalogKind::nodes, std::string("mi250x-8gpu"), read_node_template);
  std::vector<MachineNvlinks> pairs;
  for (const NodeLink& link : node.links) {
    if (link.type.kind == LinkKind::nvlink) pairs.push_back({link.a[3] - '0', link.b[3] - '0', 0});
  }
  CHECK(amd_gpu_joined_as(pairs, 8) == "mi250x");
  settle_amd_links(pairs, node.gpu, 8);
  CHECK(pairs[0].count == 8);
  CHECK(pairs.back().count == 2);
  std::vector<MachineNvlinks> told{{0, 1, 3}};
  settle_amd_links(told, node.gpu, 2);
  CHECK(told[0].count == 6);  // what a file counts are whole links
}

TEST_CASE("matrices of rocm-smi that are cut or differ are refused with their lines") {
  CHECK_THAT(mistake_in("==== Link Type between two GPUs ====\n      GPU0 GPU1\nGPU0  0  XGMI\nGPU1  XGMI\n"),
             ContainsSubstring("m.txt:4:1") && ContainsSubstring("GPU1 of 2 GPUs has 1 column"));
  CHECK_THAT(mistake_in(rocm_matrix("Link Type between two GPUs", 4, "XGMI") +
                        rocm_matrix("Hops between two GPUs", 2, "1")),
             ContainsSubstring("2 GPUs here, 4 in line"));
  CHECK_THAT(mistake_in(rocm(200, "PCIE")), ContainsSubstring("more than 128 GPUs"));
}

TEST_CASE("SimGrid's clusters and zones are nodes and leaves") {
  const auto platform = [](const std::string& inside) {
    return machine("<?xml version='1.0'?>\n<platform version=\"4.1\">" + inside + "</platform>").fabric;
  };
  CHECK(
      platform("<cluster id=\"c\" prefix=\"n\" radical=\"0-15,20\" suffix=\"\" speed=\"1Gf\" bw=\"12.5GBps\" "
               "lat=\"1us\"/>") == MachineFabric{17, 0, 0, 1, 100});
  CHECK(platform("<cluster id=\"c\" radical=\"0-15\" bw=\"10Gbps\" topology=\"FAT_TREE\" "
                 "topo_parameters=\"2;4,4;1,2;1,3\"/>") == MachineFabric{16, 4, 6, 2, 10});
  CHECK(platform("<zone id=\"w\" routing=\"Full\"><cluster id=\"a\" radical=\"0-3\" bw=\"1GBps\"/>"
                 "<cluster id=\"b\" radical=\"0-7\" bw=\"1GBps\"/><link id=\"l\" bandwidth=\"2GBps\"/>"
                 "<zoneRoute src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></zoneRoute></zone>") ==
        MachineFabric{12, 8, 2, 2, 8});
  CHECK(platform("<zone id=\"w\"><host id=\"x\"/><host id=\"y\"/><link id=\"1\" bandwidth=\"125MBps\"/>"
                 "<link id=\"2\" bandwidth=\"125MBps\"/></zone>") == MachineFabric{2, 0, 0, 1, 1});
  CHECK_THAT(mistake_in("<platform version=\"4.1\">\n<zone id=\"z\"/></platform>"),
             ContainsSubstring("no host in this platform"));
  CHECK_THAT(mistake_in("<platform>\n<cluster id=\"a\" radical=\"x\"/></platform>"),
             ContainsSubstring("m.txt:2") && ContainsSubstring("no host by this radical"));
}

TEST_CASE("networks of ibsim are switches and hosts") {
  CHECK(machine("# a comment\nSwitch\t8 \"S1\"\n[1]\t\"H1\"[1]\n[2]\t\"H2\"[1]\t w=4\n[3]\t\"S2\"[3]\n\n"
                "Switch 8 \"S2\"\n[3]\t\"S1\"[3]\n[4]\t\"H3\"[1]\n\nHca\t2 \"H1\"\n[1]\t\"S1\"[1]\n\n"
                "Hca 2 \"H2\"\n[1] \"S1\"[2]\n\nHca 2 \"H3\"\n[1] \"S2\"[4]\n")
            .fabric == MachineFabric{3, 2, 1, 2, 0});
  CHECK_THAT(mistake_in("Hca 2 \"H1\"\n"), ContainsSubstring("no Hca of this network is at a Switch"));
}

TEST_CASE("iblinkinfo in lines tells hosts by their adapters") {
  const std::string up = "==( 4X      53.125 Gbps Active/  LinkUp)==>";
  const Machine seen = machine("0x1 \"node01 mlx5_0\" 10 1[  ] " + up + " 0xa 2 1[  ] \"leaf 1\" ( )\n" +
                               "0x2 \"node02 HCA-1\" 11 1[  ] " + up + " 0xa 2 2[  ] \"leaf 1\" ( )\n" +
                               "0xa \"leaf 1\" 2 9[  ] " + up + " 0xb 3 1[  ] \"spine 1\" ( )\n");
  CHECK(seen.fabric == MachineFabric{2, 2, 1, 2, 200});
}

TEST_CASE("Slurm's topology.yaml is read by its default") {
  const std::string text =
      "- topology: a\n  cluster_default: false\n  block:\n    block_sizes: [4]\n    blocks:\n"
      "      - {block: b1, nodes: 'n[01-04]'}\n"
      "- topology: b\n  cluster_default: true\n  tree:\n    switches:\n      - {switch: top, children: "
      "'s[1-3]'}\n"
      "      - {switch: s1, nodes: 'n[1-8]'}\n      - {switch: s2, nodes: 'n[9-16]'}\n      - {switch: s3, "
      "nodes: 'n17'}\n";
  const Machine seen = machine(text);
  CHECK(seen.fabric == MachineFabric{17, 8, 0, 2, 0});
  CHECK(seen.place.line == 7);
  CHECK_THAT(seen.remarks.at(0), ContainsSubstring("of 2 topologies b is read"));
  CHECK_THAT(mistake_in("- topology: a\n  flat: true\n"), ContainsSubstring("names nodes"));
}

TEST_CASE("Kubernetes tells GPUs, products, cores and memory of nodes") {
  const Machine described = machine(
      "Name:               gpu-1\nLabels:             kubernetes.io/arch=amd64\n"
      "                    feature.node.kubernetes.io/cpu-hardware_multithreading=true\n"
      "                    node.kubernetes.io/instance-type=p4d.24xlarge\n"
      "                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB\n"
      "Capacity:\n  cpu:                96\n  memory:             1048576Ki\n  nvidia.com/gpu:     8\n"
      "Allocatable:\n  cpu:                95690m\n  nvidia.com/gpu:     7\n");
  CHECK(described.gpu_count == 8);
  CHECK(described.cores == 48);
  CHECK(described.memory.count == std::int64_t{1} << 30);
  CHECK(described.fabric.nodes == 0);
  CHECK(cluster(described).node.gpu.name == "a100-sxm4-40gb");
  const auto node = [](const std::string& name, int gpus) {
    return "- kind: Node\n  metadata:\n    name: " + name +
           "\n    labels: {nvidia.com/gpu.product: Tesla-T4-SHARED, nvidia.com/gpu.count: \"4\"}\n  status:\n"
           "    capacity: {cpu: \"48\", memory: 196Gi, nvidia.com/gpu: \"" +
           std::to_string(gpus) + "\"}\n";
  };
  const Machine list = machine("apiVersion: v1\nkind: List\nitems:\n" + node("a", 16) + node("b", 16));
  CHECK(list.gpu_count == 4);  // shared four ways
  CHECK(list.fabric.nodes == 2);
  CHECK(cluster(list).node.gpu.name == "t4");
  const Machine json = machine(
      "{\"apiVersion\": \"v1\", \"kind\": \"Node\",\n \"metadata\": {\"name\": \"n\", \"labels\": "
      "{\"amd.com/gpu.product-name\": \"AMD_Instinct_MI300X_OAM\"}},\n"
      " \"status\": {\"capacity\": {\"amd.com/gpu\": \"8\", \"cpu\": \"192\", \"memory\": "
      "\"2113411108Ki\"}}}\n");
  CHECK(cluster(json).node.gpu.name == "mi300x");
  CHECK_THAT(mistake_in("kind: Node\nstatus: &a\n  capacity: *a\n"), ContainsSubstring("a circle"));
}

TEST_CASE("InfraGraph's edges are written out from slices and schemes") {
  CHECK(infra_slice_of("xpu[0:8:2]", 1).numbers == std::vector<int>{0, 2, 4, 6});
  CHECK(infra_slice_of("xpu[3]", 8).numbers == std::vector<int>{3});
  CHECK(infra_slice_of("xpu", 3).numbers == std::vector<int>{0, 1, 2});
  CHECK(infra_slice_of("xpu[:2]", 8).numbers == std::vector<int>{0, 1});
  const std::string text =
      "name: pod\ndevices:\n- name: dgx\n  components:\n  - {name: cpu, choice: cpu, count: 2}\n"
      "  - {name: xpu, choice: xpu, count: 4, description: NVIDIA L40S}\n  - {name: pciesw, choice: switch, "
      "count: 2}\n"
      "  - {name: nic, choice: nic, count: 2}\n  edges:\n"
      "  - {ep1: {component: cpu}, ep2: {component: pciesw}, scheme: one2one, link: pcie}\n"
      "  - {ep1: {component: 'pciesw[0]'}, ep2: {component: 'xpu[0:2]'}, scheme: many2many, link: pcie}\n"
      "  - {ep1: {component: 'pciesw[1]'}, ep2: {component: 'xpu[2:4]'}, scheme: many2many, link: pcie}\n"
      "  - {ep1: {component: pciesw}, ep2: {component: nic}, scheme: one2one, link: pcie}\n"
      "- name: sw\n  components: [{name: asic, choice: switch}]\n"
      "instances:\n- {name: host, device: dgx, count: 3}\n- {name: rail, device: sw, count: 1}\n"
      "links:\n- {name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: "
      "200}}}\n"
      "edges:\n- {ep1: {instance: host, component: nic}, ep2: {instance: 'rail[0]', component: 'port[0]'}, "
      "scheme: many2many, link: eth}\n";
  const Machine seen = machine(text);
  CHECK(gpus_of(seen) == 4);
  CHECK(count(seen, PartKind::socket) == 2);
  CHECK(count(seen, PartKind::pcie_switch) == 2);
  CHECK(count(seen, PartKind::adapter) == 2);
  CHECK(seen.fabric == MachineFabric{3, 3, 0, 1, 200});
  CHECK(cluster(seen).node.gpu.name == "l40s");
}

TEST_CASE("InfraGraph's dotted connections are read, what is none is refused with its place") {
  const std::string node =
      "infrastructure:\n  devices:\n  - name: box\n    components:\n    - {name: cpu, type: cpu}\n"
      "    - {name: gpu, type: xpu, description: Nvidia V100 GPU}\n    connections:\n    - cpu.0.pcie.gpu.0\n"
      "    - cpu.0.pcie.gpu.1\n    - gpu.0.nvlink.gpu.1\n";
  const Machine seen = machine(node);
  CHECK(gpus_of(seen) == 2);
  CHECK(seen.nvlinks == std::vector<MachineNvlinks>{{0, 1, 1}});
  CHECK_THAT(mistake_in(node + "    - gpu.0.nvlink\n"),
             ContainsSubstring("m.txt:11:7") && ContainsSubstring("is no connection"));
  CHECK_THAT(mistake_in("infrastructure:\n  instances: []\n"),
             ContainsSubstring("neither a device with an xpu"));
}

TEST_CASE("a file of one line of mistakes is refused with a few of them") {
  std::string text = "<graphs>";
  for (int i = 0; i < 200'000; ++i) text += "<graph pattern=\"9\"/>";
  const std::string mistakes = mistake_in(text + "</graphs>");
  CHECK_THAT(mistakes, ContainsSubstring("50 errors"));
  CHECK(mistakes.size() < 20'000);
}

TEST_CASE("NCCL's graphs that are cut are refused with their places") {
  CHECK_THAT(mistake_in("<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" "
                        "nchannels=\"2\"><channel/></graph></graphs>"),
             ContainsSubstring("m.txt:2") && ContainsSubstring("nchannels is 2, and 1 stand here"));
  CHECK_THAT(mistake_in("<graphs>\n<graph pattern=\"9\"/></graphs>"),
             ContainsSubstring("no pattern has the number \"9\""));
  CHECK_THAT(mistake_in("<graphs></graphs>"), ContainsSubstring("no <graph> in it"));
}

TEST_CASE("a network alone gets a node that is said to be assumed, by its rate") {
  const auto with_rate = [](const std::string& rate) {
    return cluster_of(machine("<platform><cluster id=\"c\" radical=\"0-3\" bw=\"" + rate + "\"/></platform>"),
                      {});
  };
  const ImportedCluster fast = with_rate("50GBps");
  CHECK_THAT(fast.text, ContainsSubstring("gpu = \"h100-sxm5-80gb\"") && ContainsSubstring("nodes = 4"));
  CHECK_THAT(fast.assumptions.at(0), ContainsSubstring("the node: 8 GPUs"));
  CHECK_THAT(with_rate("12.5GBps").text, ContainsSubstring("gpu = \"v100-sxm2-16gb\""));
  CHECK_THAT(with_rate("41MBps").text, ContainsSubstring("assumed: nearest to 0.328 Gb/s"));
}

TEST_CASE("a node that says it has no GPU trains on a core, and contradicts one that has") {
  const std::string none = "NodeName=c1 Gres=(null) Sockets=2 CoresPerSocket=4 RealMemory=1000\n";
  const ImportedCluster cores = cluster_of(machine(none), {});
  CHECK_THAT(cores.text, ContainsSubstring("gpu = \"cpu-core\""));
  CHECK_THAT(cores.assumptions.at(0), ContainsSubstring("a core in the place of a GPU"));
  CHECK_THROWS_WITH(joined({machine("GPU 0: NVIDIA L4 (UUID: x)\n", "l.txt"), machine(none, "s.txt")}),
                    ContainsSubstring("s.txt:1") && ContainsSubstring("0 GPUs here, 1 in l.txt:1"));
}

TEST_CASE("products that contradict each other are refused with both places, names of sites are not") {
  const Machine list = machine("GPU 0: NVIDIA A100-SXM4-80GB (UUID: x)\n", "l.txt");
  const auto slurm = [](const std::string& type) {
    return machine("NodeName=g1 Gres=gpu:" + type + ":1 Sockets=1 CoresPerSocket=8\n", "s.txt");
  };
  CHECK_THROWS_WITH(
      joined({list, slurm("v100")}),
      ContainsSubstring("v100 here, NVIDIA A100-SXM4-80GB in l.txt:1") && ContainsSubstring("s.txt:1"));
  CHECK(gpus_of(joined({list, slurm("a100")})) == 1);
  CHECK(gpus_of(joined({list, slurm("ampere")})) == 1);
}

TEST_CASE("a template of a configuration says that it is one") {
  const Machine seen = machine("NodeName={{ name }} Gres=gpu:{{ gpus }} Sockets={{ s }}\n");
  CHECK(seen.gpu_count == 0);
  CHECK_FALSE(seen.has_no_gpu);
  CHECK_THAT(seen.remarks.at(0), ContainsSubstring("a template"));
}

TEST_CASE("entities of XML are not expanded and aliases of YAML are counted") {
  std::string bomb = "<!DOCTYPE platform [<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c < 'k'; ++c)
    bomb += std::string("<!ENTITY ") + c + " \"" +
            [](char before) {
              std::string out;
              for (int i = 0; i < 10; ++i) out += std::string("&") + before + ";";
              return out;
            }(static_cast<char>(c - 1)) +
            "\">";
  CHECK_THAT(mistake_in(bomb + "]><platform>&j;</platform>"), ContainsSubstring("no host in this platform"));
  std::string yaml = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'i'; ++c) {
    yaml += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) yaml += std::string(i > 0 ? ", *" : "*") + static_cast<char>(c - 1);
    yaml += "]\n";
  }
  CHECK_THAT(mistake_in("infrastructure:\ndevices:\nconnections:\n" + yaml),
             ContainsSubstring("more than 50000 values"));
}

}  // namespace machine_formats_test
