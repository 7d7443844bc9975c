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
#include "tests/unit/import/machine_texts.hpp"

namespace machine_formats_test {

using namespace foretrain;
using test::cluster, test::count, test::first, test::machine, test::mistake_in;

namespace {

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
