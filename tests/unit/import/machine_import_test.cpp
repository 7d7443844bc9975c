// Small machines in each format: what is read, what is assumed, what is refused with its place.
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/matrix_tree.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/pci_tree.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/machine_texts.hpp"

namespace machine_import_test {

using namespace foretrain;
using test::cluster, test::machine, test::mistake_in;

namespace {

// Two GPUs and an adapter below one switch of the first socket, another GPU at the second.
const std::string kMatrix =
    "$ nvidia-smi topo -m\n"
    "\t\033[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\033[0m\n"
    "GPU0\t X \tPIX\tSYS\tPIX\t0-15,32-47\t0\n"
    "GPU1\tPIX\t X \tSYS\tPIX\t0-15,32-47\t0\n"
    "GPU2\tSYS\tSYS\t X \tSYS\t16-31,48-63\t1\n"
    "NIC0\tPIX\tPIX\tSYS\t X \n"
    "Legend:\n  X = Self\n  NIC0: mlx5_0\n";

}  // namespace

TEST_CASE("a matrix becomes sockets, switches, GPUs and adapters") {
  const Machine seen = machine(kMatrix);
  CHECK(seen.of_kind(PartKind::socket).size() == 2);
  CHECK(seen.of_kind(PartKind::pcie_switch).size() == 1);
  CHECK(gpus_of(seen) == 3);
  const auto adapters = seen.of_kind(PartKind::adapter);
  REQUIRE(adapters.size() == 1);
  CHECK(seen.parts[static_cast<std::size_t>(adapters[0])].name == "mlx5_0");
  CHECK(seen.cores == 32);             // two threads of each: 0-15 and 32-47 are 16 cores
  CHECK(seen.tells_nvlinks == false);  // the legend names none: topo -mp
  const ClusterSpec spec = cluster(seen, {"t4", 0, 3, "roce_100"});
  CHECK(spec.nodes == 3);
  CHECK(spec.node.gpu.name == "t4");
  CHECK(spec.fabric.link.name == "roce_100");
  const Cluster built = Cluster::build(spec, 1);
  CHECK(path_class(built, built.gpu(0, 0), built.gpu(0, 1)) == PathClass::pix);
  CHECK(path_class(built, built.gpu(0, 0), built.gpu(0, 2)) == PathClass::sys);
  CHECK(path_class(built, built.gpu(0, 0), built.nic(0, 0)) == PathClass::pix);
}

TEST_CASE("the tree of a matrix gives back the classes of the matrix") {
  using enum PciPathKind;
  // Two PIX groups below one root, a third socket apart.
  const PciPathKind ways[6][6] = {{self, one_switch, switches, switches, host_bridge, sockets},
                                  {one_switch, self, switches, switches, host_bridge, sockets},
                                  {switches, switches, self, one_switch, host_bridge, sockets},
                                  {switches, switches, one_switch, self, host_bridge, sockets},
                                  {host_bridge, host_bridge, host_bridge, host_bridge, self, sockets},
                                  {sockets, sockets, sockets, sockets, sockets, self}};
  MatrixCells cells(6, std::vector<MatrixCell>(6));
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) cells[i][j].way = ways[i][j];
  }
  Machine seen;
  seen.parts = parts_of_matrix(std::vector<MatrixDevice>(6), cells);
  seen.tells_nvlinks = true;
  const Cluster built = Cluster::build(cluster(seen, {"t4", 0, 1, ""}), 1);
  const auto expected = [](PciPathKind way) {
    return way == one_switch    ? PathClass::pix
           : way == switches    ? PathClass::pxb
           : way == host_bridge ? PathClass::phb
                                : PathClass::sys;
  };
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < i; ++j) {
      INFO(i << " " << j);
      CHECK(path_class(built, built.gpu(0, i), built.gpu(0, j)) == expected(ways[i][j]));
    }
  }
}

TEST_CASE("as many NVLinks to every other GPU as no GPU has go through switches") {
  std::vector<MachineNvlinks> eight;
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) eight.push_back({a, b, 12});
  }
  join_through_switches(eight, 8);
  CHECK(eight.size() == 8);
  CHECK(eight[3] == MachineNvlinks{3, -1, 12});
  std::vector<MachineNvlinks> four{{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {1, 2, 4}, {1, 3, 4}, {2, 3, 4}};
  const auto mesh = four;
  join_through_switches(four, 4);  // 3 x 4 = 12, which an A100 has
  CHECK(four == mesh);
}

TEST_CASE("NCCL's XML says lanes, products, NVLinks and port rates") {
  const Machine seen = machine(
      R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
        <pci busid="0000:01:00.0" class="0x060400" vendor="0x1000" device="0xc010" link_speed="16 GT/s" link_width="16">
          <pci busid="0000:03:00.0" class="0x060400" vendor="0x1000" device="0xc010" link_speed="16 GT/s" link_width="16">
            <pci busid="0000:05:00.0" class="0x030200" vendor="0x10de" device="0x20b2" link_speed="16 GT/s" link_width="16">
              <gpu dev="0" sm="80" rank="0"><nvlink target="0000:06:00.0" count="12" tclass="0x030200"/></gpu></pci>
            <pci busid="0000:0a:00.0" class="0x020700" vendor="0x15b3" device="0x101b">
              <nic><net name="mlx5_0" speed="200000"/></nic></pci>
          </pci>
          <pci busid="0000:06:00.0" class="0x030200" vendor="0x10de" device="0x20b2" link_speed="16 GT/s" link_width="8">
            <gpu dev="1" sm="80" rank="1"><nvlink target="0000:05:00.0" count="12" tclass="0x030200"/></gpu></pci>
        </pci></cpu></system>)");
  CHECK(seen.family == HostFamily::amd);
  CHECK(seen.nvlinks == std::vector<MachineNvlinks>{{0, 1, 12}});
  CHECK(seen.of_kind(PartKind::pcie_switch).size() == 1);  // Broadcom's inner switch is part of the outer one
  const ImportedCluster text = cluster_of(seen, {});
  CHECK_THAT(text.text,
             ContainsSubstring("gpu = \"a100-sxm4-80gb\"") && ContainsSubstring("# PCI 10de:20b2"));
  CHECK_THAT(text.text, ContainsSubstring("link = \"pcie4_x8\""));
  CHECK_THAT(text.text, ContainsSubstring("link = \"ib_hdr\"") && ContainsSubstring("# 200 Gb/s"));
  CHECK(text.assumptions == std::vector<std::string>{"1 node; --nodes N says better", "PCIe: pcie4_x16"});
}

TEST_CASE("bridges that lead to one device are lanes") {
  using Kind = PciNode::Kind;
  const auto parts = machine_parts({{Kind::socket, -1, {}},
                                    {Kind::bridge, 0, {}},
                                    {Kind::bridge, 1, {}},
                                    {Kind::gpu, 2, {}},
                                    {Kind::bridge, 0, {}},
                                    {Kind::bridge, 4, {}}});
  REQUIRE(parts.size() == 2);
  CHECK(parts[1].kind == PartKind::gpu);
  CHECK(parts[1].parent == 0);
}

TEST_CASE("several files are one machine, and what they count differently is refused with both places") {
  const Machine matrix = machine(kMatrix, "topo.txt");
  const Machine list = machine(
      "GPU 0: NVIDIA L4 (UUID: GPU-a)\nGPU 1: NVIDIA L4 (UUID: GPU-b)\nGPU 2: NVIDIA L4 (UUID: GPU-c)\n",
      "list.txt");
  const Machine peers = machine("     GPU0 GPU1 GPU2\nGPU0 X OK NS\nGPU1 OK X OK\nGPU2 NS OK X\n", "p2p.txt");
  const Machine slurm =
      machine("NodeName=g[1-4] Gres=gpu:l4:3 Sockets=2 CoresPerSocket=24 RealMemory=256000\n", "nodes.txt");
  const ClusterSpec spec = cluster(joined({matrix, list, peers, slurm}));
  CHECK(spec.node.gpu.name == "l4");
  CHECK(spec.nodes == 4);
  CHECK_FALSE(spec.node.peer_access);
  CHECK(spec.node.switches == 1);
  CHECK(to_string(spec.node.host.memory) == "268 GB");  // 256,000 MiB
  const Machine other = machine("GPU 0: NVIDIA L4 (UUID: GPU-a)\n", "other.txt");
  CHECK_THROWS_WITH(joined({matrix, other}),
                    ContainsSubstring("other.txt:1") && ContainsSubstring("topo.txt:3"));
}

TEST_CASE("nvidia-smi -q names products, as text and as XML") {
  CHECK(machine("Attached GPUs : 2\n    Product Name : NVIDIA A40\n    Product Name : NVIDIA A40\n")
            .gpu_count == 2);
  const Machine xml =
      machine("<nvidia_smi_log><gpu id=\"0\"><product_name>Tesla T4</product_name></gpu></nvidia_smi_log>");
  CHECK(xml.gpu_product == "Tesla T4");
  CHECK(cluster(xml).node.gpu.name == "t4");
}

TEST_CASE("nvidia-smi -q shows lanes that did not train, slices and memory, each with its line") {
  const std::string gpu =
      "    Product Name                          : NVIDIA A40\n    MIG Mode\n        Current : Enabled\n"
      "        GPU Link Info\n            PCIe Generation\n                Max : 4\n                Current "
      ": 1\n"
      "            Link Width\n                Max : 16x\n                Current : 8x\n"
      "    FB Memory Usage\n        Total : 46068 MiB\n    BAR1 Memory Usage\n        Total : 65536 MiB\n";
  const Machine text = machine("Attached GPUs : 2\n" + gpu + gpu, "q.txt");
  REQUIRE(text.doubts.size() == 4);
  CHECK(text.doubts[0].what == "gpu0 trained 8 of its 16 PCIe lanes");
  CHECK(text.doubts[0].place == FactPlace{"q.txt", 11});
  CHECK(text.doubts[3].what == "gpu1 is cut into slices (MIG)");
  CHECK(text.gpu_memory.count == std::int64_t{46068} << 20);
  const Machine xml = machine(
      "<nvidia_smi_log>\n<gpu id=\"0\"><product_name>NVIDIA A40</product_name><mig_mode><current_mig>N/A"
      "</current_mig></mig_mode><pci><pci_gpu_link_info><link_widths><max_link_width>16x</max_link_width>"
      "<current_link_width>4x</current_link_width></link_widths></pci_gpu_link_info></pci>"
      "<fb_memory_usage><total>24000 MiB</total></fb_memory_usage></gpu></nvidia_smi_log>",
      "q.xml");
  REQUIRE(xml.doubts.size() == 1);
  CHECK(xml.doubts[0].what == "gpu0 trained 4 of its 16 PCIe lanes");
  CHECK(xml.doubts[0].place == FactPlace{"q.xml", 2});
  const ImportedCluster cluster = cluster_of(xml, {});
  CHECK(cluster.doubts.back().what == "the driver shows 25.2 GB of memory, a40 has 48 GB");
  CHECK_THAT(cluster.text, ContainsSubstring("# Doubtful: gpu0 trained 4 of its 16 PCIe lanes (q.xml:2)."));
}

TEST_CASE("GPUs with fewer lanes or NVLinks than their product are doubted, equal ones once") {
  const auto gpu = [](int number, int lanes, int links) {
    return fmt::format(
        R"(<pci busid="0000:0{0}:00.0" class="0x030200" vendor="0x10de" device="0x1db1" link_speed="8 GT/s" link_width="{1}">
           <gpu dev="{0}" sm="70" rank="{0}"><nvlink target="0000:0{2}:00.0" count="{3}" tclass="0x030200"/></gpu></pci>)",
        number, lanes, 1 - number, links);
  };
  const Machine seen =
      machine("<system version=\"1\"><cpu numaid=\"0\">" + gpu(0, 16, 4) + gpu(1, 8, 4) + "</cpu></system>");
  const ImportedCluster text = cluster_of(seen, {});
  REQUIRE(text.doubts.size() == 2);
  CHECK(text.doubts[0].what == "gpu1 has PCIe 3 x8, v100-sxm2-16gb takes 3 x16");
  CHECK(text.doubts[1].what == "every GPU has 4 of the 6 NVLinks of v100-sxm2-16gb");
  CHECK(to_string(text.doubts[0].place) == "m.txt:1");
  CHECK(cluster_of(machine("<system version=\"1\"><cpu numaid=\"0\">" + gpu(0, 16, 6) + gpu(1, 16, 6) +
                           "</cpu></system>"),
                   {})
            .doubts.empty());
}

TEST_CASE("partitions of Slurm become those of the site, with GPUs and up, beside the nodes") {
  const Machine partitions = machine(
      "PartitionName=gpu\n   AllowGroups=ALL\n   MaxNodes=20 MaxTime=3-00:00:00 MinNodes=0 State=UP "
      "OverSubscribe=NO\n"
      "   TRES=cpu=3200,mem=30000000M,node=80,billing=3200,gres/gpu=320\n\n"
      "PartitionName=whole MaxNodes=UNLIMITED MaxTime=00:15:00 MinNodes=2 State=UP OverSubscribe=EXCLUSIVE "
      "TRES=cpu=1,gres/gpu:a100=4\n"
      "PartitionName=small MaxNodes=1 State=UP TRES=cpu=3200\nPartitionName=old State=DOWN TRES=gres/gpu=1\n"
      "PartitionName=\"$(x)\" State=UP TRES=gres/gpu=1\n",
      "partitions.txt");
  CHECK(partitions.format == "Slurm partitions");
  const Machine nodes = machine("NodeName=g[1-4] Gres=gpu:a100:4 Sockets=2 CoresPerSocket=32\n", "nodes.txt");
  const ClusterSpec spec = cluster(joined({nodes, partitions}));
  CHECK(spec.site.system == BatchSystem::slurm);
  CHECK(spec.site.gpu_type == "a100");
  REQUIRE(spec.site.partitions.size() == 2);
  CHECK(spec.site.partitions[0].name == "gpu");
  CHECK(spec.site.partitions[0].most_nodes == 20);
  CHECK(to_string(spec.site.partitions[0].longest) == to_string(Time{std::chrono::hours(72)}));
  CHECK_FALSE(spec.site.partitions[0].whole_nodes);
  CHECK(spec.site.partitions[1].most_nodes == 0);
  CHECK(spec.site.partitions[1].least_nodes == 2);
  CHECK(spec.site.partitions[1].whole_nodes);
  CHECK(cluster(machine(kMatrix), {"t4", 0, 1, "roce_100"}).site.system == BatchSystem::none);
}

TEST_CASE("sinfo tells nodes, their GPUs and cores, and the partitions that have GPUs") {
  const Machine table = machine(
      "[me@login ~]$ sinfo -o ...\n"
      "PARTITION  AVAIL TIMELIMIT   JOB_SIZE GRES              S:C:T   MEMORY  NODELIST\n"
      "gpu*       up    3-00:00:00  1-20     gpu:a100:4(S:0-1) 2:64:1  512000+ g[01-06]\n"
      "gpu*       up    3-00:00:00  1-20     gpu:a100:4(S:0-1) 2:64:1  512000+ g[07-08]\n"
      "gputest    up    15:00       1-1      gpu:a100:4(S:0-1) 2:64:1  512000+ g[01-02]\n"
      "old        down  15:00       1-1      gpu:a100:4        2:64:1  512000+ g09\n"
      "large      up    infinite    1-10     (null)            2:64:1  256000  c[001-100]\n"
      "cut short\n",
      "sinfo.txt");
  CHECK(table.format == "sinfo");
  CHECK(table.place.line == 2);
  const ClusterSpec spec = cluster(table);
  CHECK(spec.nodes == 9);  // each once, whatever partitions it is in
  CHECK(spec.node.gpus == 4);
  CHECK(spec.node.gpu.name.starts_with("a100"));
  CHECK(spec.node.host.cores == 128);
  CHECK(to_string(spec.node.host.memory) == "537 GB");
  REQUIRE(spec.site.partitions.size() == 2);
  CHECK(spec.site.partitions[0].name == "gpu");
  CHECK(spec.site.partitions[0].most_nodes == 20);
  CHECK(spec.site.partitions[1].longest == Time{std::chrono::minutes(15)});
  REQUIRE(table.remarks.size() == 2);
  CHECK(table.remarks[0] == "100 nodes without GPUs are left out (partition large)");
  CHECK(table.remarks[1] == "1 line of sinfo with fewer fields than the heading");
}

TEST_CASE("sinfo as it is typed tells partitions and nodes, beside a file with the GPUs") {
  const Machine plain = machine(
      "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nlong*        up   infinite      3   idle g[1-3]\n"
      "long*        up   infinite      1  down* g4\n");
  const ClusterSpec spec = cluster(joined({machine(kMatrix), plain}), {"v100-sxm2-16gb", 0, 0, "ib_edr"});
  CHECK(spec.nodes == 4);
  REQUIRE(spec.site.partitions.size() == 1);
  CHECK(spec.site.partitions[0].name == "long");
  CHECK(to_seconds(spec.site.partitions[0].longest) == 0);
  CHECK_THAT(mistake_in("PARTITION AVAIL TIMELIMIT NODES\n"),
             ContainsSubstring("m.txt:1:") && ContainsSubstring("no line of sinfo stands below"));
}

TEST_CASE("AMD's GPUs are joined to each other, never through NVSwitches") {
  Machine lumi;
  lumi.parts = {{PartKind::socket, -1}};
  for (int i = 0; i < 8; ++i) {
    MachinePart part{PartKind::gpu, 0};
    part.pci_device = "1002:7408";
    lumi.parts.push_back(part);
  }
  const NodeSpec board = cluster(lumi).node;
  CHECK(board.nvswitches == 0);
  int links = 0;
  for (const NodeLink& link : board.links) links += link.type.kind == LinkKind::nvlink ? link.count : 0;
  CHECK(links == 4 * 8 + 2 * 4 + 6 * 2);  // as the template mi250x-8gpu
  lumi.parts.resize(7);                   // six: no template
  CHECK(cluster(lumi).node.nvswitches == 0);
}

TEST_CASE("a product or PCI number that the catalog lacks becomes the nearest and says so") {
  GpuTraits gtx1080;
  gtx1080.pci_device = "10de:1b80";
  const RecognisedGpu pascal = recognised_gpu(gtx1080);
  CHECK(pascal.assumed);
  CHECK(open_value(CatalogKind::gpus, pascal.name, read_gpu).compute_capability == 6.1);
  CHECK_THAT(pascal.because, ContainsSubstring("PCI 10de:1b80"));
  GpuTraits board;
  board.nvlinks = 18;
  board.is_wired = true;
  board.gpus_of_node = 8;
  CHECK(recognised_gpu(board).name == "h100-sxm5-80gb");
  GpuTraits exact;
  exact.product = "NVIDIA A100-SXM4-80GB";
  CHECK(recognised_gpu(exact).name == "a100-sxm4-80gb");
  CHECK_FALSE(recognised_gpu(exact).assumed);
  GpuTraits driver;
  driver.product = "NVIDIA H100 80GB HBM3";
  CHECK(recognised_gpu(driver).name == "h100-sxm5-80gb");
  CHECK_FALSE(recognised_gpu(driver).assumed);
}

TEST_CASE("networks follow adapters and rates") {
  CHECK(network_of("15b3:101b", 200) == "ib_hdr");
  CHECK(network_of("15b3:101b", 100) == "ib_edr");
  CHECK(network_of("15b3:101d", 100) == "roce_100");
  CHECK(network_of("1d0f:efa0", 100) == "efa_100");
  CHECK(network_of("", 400) == "ib_ndr");
  CHECK(network_of("", 0).empty());
  CHECK(network_of("ffff:0001", 37).empty());
}

TEST_CASE("every GPU and network of the two PCI tables is in the catalogs or not chosen") {
  for (const char* device : {"10de:20b0", "10de:1db1", "10de:2330", "10de:1eb8"}) {
    GpuTraits traits;
    traits.pci_device = device;
    CHECK_FALSE(recognised_gpu(traits).assumed);
  }
  for (const char* device :
       {"15b3:1013", "15b3:101b", "15b3:1021", "15b3:101d", "1d0f:efa2", "8086:24f0", "17db:0501"})
    CHECK(open_value(CatalogKind::links, network_of(device, 0), read_link_type).kind == LinkKind::network);
}

TEST_CASE("lists of hosts are counted and written out") {
  CHECK(count_of_names("tux[0-3,7],login") == 6);
  CHECK(count_of_names("a[1-2][1-3]") == 6);
  CHECK(names_of_list("n[08-10],x", 10) == std::vector<std::string>{"n08", "n09", "n10", "x"});
  CHECK(names_of_list("n[0-999999]", 3).size() == 3);
  CHECK(count_of_names("n[0-99999999999]") == 0);  // no such number of nodes
  CHECK(count_of_names("n[5-2]") == 0);
  CHECK(count_of_names("n[") == 1);
}

TEST_CASE("what is no machine is refused with the formats that are") {
  CHECK_THAT(mistake_in("hello\n"), ContainsSubstring("known: NCCL topology XML, NCCL graph XML"));
  CHECK_THAT(mistake_in(""), ContainsSubstring("no description of a machine"));
  CHECK_THAT(mistake_in(std::string("\0\1\2", 3)), ContainsSubstring("no description of a machine"));
}

TEST_CASE("mistakes stand with their lines") {
  CHECK_THAT(mistake_in("GPU0 X PIX\nGPU1 PIX\n"),
             ContainsSubstring("m.txt:2") || ContainsSubstring("column"));
  CHECK_THAT(mistake_in("   GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX PIX\n"),
             ContainsSubstring("m.txt:3:1") && ContainsSubstring("is not X"));
  CHECK_THAT(mistake_in("<system version=\"1\"><cpu numaid=\"0\"></cpu></system>"),
             ContainsSubstring("no GPU in this topology"));
  CHECK_THAT(mistake_in("<system version=\"1\">\n<cpu numaid=\"0\">\n<pci"),
             ContainsSubstring("m.txt:3") && ContainsSubstring("the XML breaks here"));
}

TEST_CASE("nesting without end is refused, not followed") {
  std::string deep = "<system><cpu>";
  for (int i = 0; i < 5000; ++i) deep += "<pci>";
  for (int i = 0; i < 5000; ++i) deep += "</pci>";
  CHECK_THAT(mistake_in(deep + "</cpu></system>"), ContainsSubstring("nested deeper than 256"));
}

TEST_CASE("a machine of a thousand GPUs is refused") {
  std::string list;
  for (int i = 0; i < 1000; ++i) list += "GPU " + std::to_string(i) + ": NVIDIA L4 (UUID: x)\n";
  CHECK_THROWS_WITH(cluster_of(machine(list), {}), ContainsSubstring("at most 64"));
}

TEST_CASE("a machine whose devices are seen and that shows no GPU is refused") {
  CHECK_THROWS_WITH(
      cluster_of(machine("<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Package\">"
                         "<object type=\"Core\"/></object></object></topology>"),
                 {}),
      ContainsSubstring("no GPU in this machine"));
}

}  // namespace machine_import_test
