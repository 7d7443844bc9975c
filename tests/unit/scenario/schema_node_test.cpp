// Tests of the node table and of node templates: what a cluster takes over, replaces and adds, and mistakes
// at their place.
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace schema_node_test {

using namespace foretrain;

namespace {

struct ReadCluster {
  ClusterSpec spec;
  std::string errors;
};

ReadCluster read(const std::string& text) {
  const SourceText source{"box.toml", text};
  Diagnostics diagnostics(source);
  ClusterSpec spec = read_cluster(source, diagnostics);
  return {spec, format(diagnostics.found())};
}

ReadCluster read_node(const std::string& keys) { return read("nodes = 1\n[node]\n" + keys); }

std::string template_errors(const std::string& text) {
  const SourceText source{"part.toml", text};
  Diagnostics diagnostics(source);
  read_node_template(source, diagnostics);
  return format(diagnostics.found());
}

int links_to(const NodeSpec& node, std::string_view device) {
  int count = 0;
  for (const NodeLink& link : node.links) count += link.a == device || link.b == device ? 1 : 0;
  return count;
}

const std::string kOwnNode = R"(gpus = 1
gpu = "t4"
nics = 1
[node.host]
cores = 8
slowdown = 2
memory_bandwidth = "8 GBps"
family = "amd"
[[node.links]]
link = "pcie3_x16"
pairs = [["gpu0", "cpu0"], ["nic0", "cpu0"]]
)";

const std::string kTemplate = R"(gpus = 1
gpu = "t4"
[host]
cores = 8
slowdown = 2
memory_bandwidth = "8 GBps"
[[links]]
link = "pcie3_x16"
pairs = [["gpu0", "cpu0"]]
)";

}  // namespace

TEST_CASE("the name of a template alone is a whole node") {
  const auto [spec, errors] = read("nodes = 1\nnode = \"dgx-a100\"\n");
  REQUIRE(errors.empty());
  CHECK(spec.node.gpus == 8);
  CHECK(spec.node.gpu.name == "a100-sxm4-40gb");
  CHECK(spec.node.nics == 8);
  CHECK(spec.node.host.family == HostFamily::amd);
  CHECK(links_to(spec.node, "nvswitch0") == 8);
}

TEST_CASE("a key beside a template replaces its value, and the rest stays") {
  const auto [spec, errors] =
      read_node("template = \"dgx-a100\"\ngpu = \"a100-sxm4-80gb\"\n[node.host]\ncores = 96\n");
  REQUIRE(errors.empty());
  CHECK(spec.node.gpu.name == "a100-sxm4-80gb");
  CHECK(spec.node.host.cores == 96);
  CHECK(spec.node.host.cpu == "2x AMD EPYC 7742");
  CHECK(spec.node.nics == 8);
}

TEST_CASE("the CPU says how fast one thread is where the file does not") {
  const auto with_host = [](std::string text, const std::string& line) {
    return text.replace(text.find("slowdown = 2\n"), 13, line);
  };
  CHECK(read_node(with_host(kOwnNode, "cpu = \"2x AMD EPYC 7763\"\n")).spec.node.host.slowdown == 1.7);
  CHECK(read_node(with_host(kOwnNode, "cpu = \"AMD EPYC 7763\"\nslowdown = 2\n")).spec.node.host.slowdown ==
        2);
  CHECK_THAT(read_node(with_host(kOwnNode, "")).errors, ContainsSubstring("node.host.slowdown is missing"));
  CHECK_THAT(read_node(with_host(kOwnNode, "cpu = \"a CPU of 2031\"\n")).errors,
             ContainsSubstring("node.host.slowdown is missing"));
  // Another CPU than the template's has its own speed; other keys of the host leave it alone.
  const std::string dgx = "template = \"dgx-a100\"\n[node.host]\n";
  CHECK(read_node(dgx + "cores = 96\n").spec.node.host.slowdown == 2.1);
  CHECK(read_node(dgx + "cpu = \"2x AMD EPYC 7543\"\n").spec.node.host.slowdown == 1.7);
  CHECK(read_node(dgx + "cpu = \"a CPU of 2031\"\n").spec.node.host.slowdown == 2.1);
}

TEST_CASE("links beside a template are added to its links") {
  const auto [spec, errors] = read_node(
      "template = \"pcie3-8gpu\"\n[[node.links]]\nlink = \"nvlink2\"\ncount = 2\npairs = [[\"gpu0\", "
      "\"gpu1\"]]\n");
  REQUIRE(errors.empty());
  const std::size_t plain = read("nodes = 1\nnode = \"pcie3-8gpu\"\n").spec.node.links.size();
  REQUIRE(spec.node.links.size() == plain + 1);
  CHECK(spec.node.links.back().count == 2);
}

TEST_CASE("whoever sets the NICs describes their connections anew") {
  const auto [spec, errors] =
      read_node("template = \"dgx-a100\"\nnics_at = [\"cpu0\", \"switch3\"]\nnic_link = \"pcie3_x16\"\n");
  REQUIRE(errors.empty());
  CHECK(spec.node.nics == 2);
  CHECK(links_to(spec.node, "nic0") == 1);
  CHECK(links_to(spec.node, "nic7") == 0);
  const NodeLink& last = spec.node.links.back();
  CHECK(last.a == "nic1");
  CHECK(last.b == "switch3");
  CHECK(last.type.name == "pcie3_x16");
  CHECK(read_node("template = \"dgx-a100\"\nnics = 0\n").spec.node.nics == 0);
  CHECK(read_node("template = \"dgx-a100\"\nnics = 0\n").errors.empty());
}

TEST_CASE("clocks set lower than the data sheet's lower the rates of a node's GPUs") {
  const ReadCluster plain = read_node(kOwnNode), slow = read_node("gpu_clock = 0.5\n" + kOwnNode);
  CHECK(slow.errors == "");
  CHECK(slow.spec.node.gpu.sustained_clock == Approx(0.5 * plain.spec.node.gpu.sustained_clock));
}

TEST_CASE("a node says how its GPUs, NICs and switches behave") {
  const auto [spec, errors] = read_node(
      "peer_access = false\ngpudirect = false\ngpudirect_reach = \"SYS\"\nmulticast = true\n" + kOwnNode);
  REQUIRE(errors.empty());
  CHECK_FALSE(spec.node.peer_access);
  CHECK_FALSE(spec.node.gpudirect);
  CHECK(spec.node.gpudirect_reach == PathClass::sys);
  CHECK(spec.node.multicast);
  CHECK(spec.node.host.family == HostFamily::amd);
  const NodeSpec plain = read_node(kOwnNode).spec.node;
  CHECK(plain.gpudirect);
  CHECK(plain.gpudirect_reach == PathClass::pxb);
  CHECK_FALSE(plain.multicast);
}

TEST_CASE("an unknown template, family and reach are reported with a suggestion") {
  CHECK(read_node(
            "template = \"dgx-a10\"\ngpudirect_reach = \"PHP\"\n[node.host]\nfamily = \"intel_skylark\"\n")
            .errors ==
        "box.toml:3:12: error: unknown node \"dgx-a10\"\n"
        "  3 | template = \"dgx-a10\"\n"
        "    |            ^^^^^^^^^\n"
        "  hint: did you mean \"dgx-a100\" or \"dgx-h100\"?\n"
        "box.toml:4:19: error: unknown node.gpudirect_reach \"PHP\"\n"
        "  4 | gpudirect_reach = \"PHP\"\n"
        "    |                   ^^^^^\n"
        "  hint: did you mean \"PHB\", \"PIX\" or \"PXB\"?\n"
        "box.toml:6:10: error: unknown node.host.family \"intel_skylark\"\n"
        "  6 | family = \"intel_skylark\"\n"
        "    |          ^^^^^^^^^^^^^^^\n"
        "  hint: did you mean \"intel_skylake\"?\n"
        "3 errors\n");
}

TEST_CASE("a node that does not exist is reported where its name stands") {
  CHECK(read("nodes = 1\nnode = \"dgxa10O\"\n").errors ==
        "box.toml:2:8: error: unknown node \"dgxa10O\"\n"
        "  2 | node = \"dgxa10O\"\n"
        "    |        ^^^^^^^^^\n"
        "  hint: did you mean \"dgx-a100\"?\n");
  CHECK(read("nodes = 1\nnode = 3\n").errors ==
        "box.toml:2:8: error: node must be a table, not an integer\n"
        "  2 | node = 3\n"
        "    |        ^\n");
}

TEST_CASE("a fault that an override causes in a template's link is shown at the template's name") {
  CHECK(read_node("template = \"pcie-4gpu\"\ngpus = 3\n").errors ==
        "box.toml:3:12: error: there is no device \"gpu3\" in the node\n"
        "  3 | template = \"pcie-4gpu\"\n"
        "    |            ^^^^^^^^^^^\n"
        "  hint: did you mean \"gpu0\", \"gpu1\" or \"gpu2\"?\n");
}

TEST_CASE("NICs are counted once and need their link") {
  CHECK(read_node(
            "template = \"dgx-a100\"\nnics = 3\nnics_at = [\"cpu0\", \"cpu1\"]\nnic_link = \"pcie4_x16\"\n")
            .errors ==
        "box.toml:4:8: error: node.nics does not fit node.nics_at, which has 2 entries\n"
        "  4 | nics = 3\n"
        "    |        ^\n"
        "  hint: leave it out: the list says how many there are\n");
  CHECK(read_node("template = \"dgx-a100\"\nnics_at = [\"cpu0\"]\n").errors ==
        "box.toml:2:1: error: node.nic_link is missing\n"
        "  2 | [node]\n"
        "    | ^^^^^^\n"
        "  hint: add nic_link = \"pcie4_x16\"\n");
  CHECK(read_node("template = \"dgx-a100\"\nnics_at = [\"cpu7\"]\nnic_link = \"pcie4_x16\"\n").errors ==
        "box.toml:4:11: error: there is no device \"cpu7\" in the node\n"
        "  4 | nics_at = [\"cpu7\"]\n"
        "    |           ^^^^^^^^\n"
        "  hint: did you mean \"cpu0\", \"cpu1\" or \"gpu7\"?\n");
}

TEST_CASE("a template is checked on its own") {
  CHECK(template_errors(kTemplate) == "");
  CHECK(template_errors("description = \"x\"\n" + kTemplate) == "");
  CHECK(template_errors(kTemplate + "[[links]]\nlink = \"pcie3_x16\"\npairs = [[\"gpu0\", \"switch0\"]]\n") ==
        "part.toml:12:10: error: there is no device \"switch0\" in the node\n"
        "  12 | pairs = [[\"gpu0\", \"switch0\"]]\n"
        "     |          ^^^^^^^^^^^^^^^^^^^\n"
        "  hint: known: gpu0, cpu0\n");
  CHECK(template_errors("template = \"dgx-a100\"\n" + kTemplate) ==
        "part.toml:1:1: error: unknown key \"template\"\n"
        "  1 | template = \"dgx-a100\"\n"
        "    | ^^^^^^^^\n"
        "  hint: known: description, gpus, cpus, switches, nvswitches, nics, gpu, gpu_clock, peer_access, "
        "gpudirect, "
        "multicast, gpudirect_reach, host, "
        "links, "
        "nic_link, nics_at\n");
}

TEST_CASE("an empty template misses what every node needs") {
  CHECK(template_errors("# nothing\n") ==
        "part.toml: error: gpus is missing\n"
        "  hint: add gpus = 4\n"
        "part.toml: error: gpu is missing\n"
        "  hint: add gpu = \"a100-sxm4-40gb\"\n"
        "part.toml: error: host is missing\n"
        "  hint: add [host]\n"
        "part.toml: error: links is missing\n"
        "  hint: add [[links]]\n"
        "4 errors\n");
}

}  // namespace schema_node_test
