// Several kinds of node: in cluster files, and where scenarios name them.
#include "sim/cluster/node_kinds.hpp"

#include "sim/scenario/job.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace node_kinds_test {

using namespace foretrain;

namespace {

const std::string kFirst = "nodes = 2\nnode_kind = \"v100\"\nnode = \"dgx1-v100\"\n";
const std::string kFabric = "[fabric]\nkind = \"star\"\nlink = \"ib_edr\"\n";

std::string kind(const std::string& name, const std::string& more = "") {
  return "[[more_nodes]]\nname = \"" + name + "\"\nnodes = 3\nnode = \"a100-4gpu-2cpu\"\n" + more;
}

ClusterSpec read(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"box.toml", text};
  return read_or_throw(source, read_cluster);
}

std::string mistakes_in(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"box.toml", text};
  Diagnostics diagnostics(source);
  read_cluster(source, diagnostics);
  return format(diagnostics.found());
}

bool says(const std::string& found, const std::string& part) { return found.find(part) != std::string::npos; }

/// Of a scenario on the catalog's cluster of two kinds, v100 and a100 with two nodes each.
std::string answer(const std::string& more) {
  return test::scenario_mistakes("[model]\nname = \"resnet50\"\n[cluster]\nname = \"two-generations\"\n" +
                                 more);
}

Scenario scenario(const std::string& more, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  return read_scenario(
      {"s.toml", "[cluster]\nname = \"two-generations\"\n[model]\nname = \"resnet50\"\n" + more}, overrides);
}

ScenarioOverrides set(const std::vector<std::string>& settings) {
  ScenarioOverrides overrides;
  overrides.settings = settings;
  return overrides;
}

}  // namespace

TEST_CASE("kinds of node follow each other in the numbering of nodes") {
  const ClusterSpec spec = read(kFirst + kind("a100", "link = \"ib_fdr\"\n") + kFabric);
  CHECK(spec.nodes == 5);
  CHECK(kind_count(spec) == 2);
  CHECK(nodes_of_kind(spec, 0) == 2);
  CHECK(name_of_kind(spec, 1) == "a100");
  CHECK(first_node_of_kind(spec, 1) == 2);
  CHECK(kind_of_node(spec, 1) == 0);
  CHECK(kind_of_node(spec, 2) == 1);
  CHECK(kind_of_node(spec, 4) == 1);
  CHECK(gpu_count(spec) == 2 * 8 + 3 * 4);
  CHECK(nic_link_of_kind(spec, 0).name == "ib_edr");
  CHECK(nic_link_of_kind(spec, 1).name == "ib_fdr");
  CHECK(first_kind_like(spec, 1) == 1);
}

TEST_CASE("kinds that are the same machine are alike, wherever in the file they stand") {
  const std::string twins =
      kFirst + kind("a100") + kind("twin") + kind("thin", "link = \"ib_fdr\"\n") + kFabric;
  const ClusterSpec spec = read(twins);
  CHECK(first_kind_like(spec, 2) == 1);
  CHECK(first_kind_like(spec, 3) == 3);
}

TEST_CASE("mistakes of kinds of node are told all at once, each at its place") {
  const std::string found =
      mistakes_in(kFirst + kind("v100") + "[[more_nodes]]\nname = \"none\"\nnodes = 0\n" +
                  "node = \"dgx-a10\"\n[[more_nodes]]\nnodes = 1\n" + kFabric);
  CAPTURE(found);
  CHECK(says(found, "box.toml:10:9: error: more_nodes.nodes must be an integer from 1 to"));
  CHECK(says(found, "unknown node \"dgx-a10\""));
  CHECK(says(found, "more_nodes.name is missing"));
  CHECK(says(found, "more_nodes.node is missing"));
}

TEST_CASE("what kinds cannot have together") {
  CHECK(says(mistakes_in(kFirst + kind("") + kFabric), "box.toml:5:8: error: a kind of node needs a name"));
  CHECK(says(mistakes_in(kFirst + kind("v100") + kFabric), "two kinds of node are called \"v100\""));
  CHECK(says(mistakes_in(kFirst + kind("a100") + "[fabric]\nkind = \"none\"\n"), "fabric"));
  const std::string bare =
      "[[more_nodes]]\nname = \"bare\"\nnodes = 1\nnode = { template = \"a100-4gpu-2cpu\", nics = 0 }\n";
  CHECK(says(mistakes_in(kFirst + bare + kFabric),
             "box.toml:4:1: error: more than one node needs a NIC in every node"));
  CHECK(says(mistakes_in(kFirst + kind("a100") + kFabric + "nvlink_domain = 2\n"),
             "an NVLink fabric joins nodes of one kind only"));
}

TEST_CASE("a wrong link of another kind of node is shown where it stands") {
  const std::string text = kFirst +
                           "[[more_nodes]]\nname = \"odd\"\nnodes = 1\n[more_nodes.node]\ntemplate = "
                           "\"a100-4gpu-2cpu\"\n[[more_nodes.node.links]]\nlink = \"pcie3_x16\"\npairs = "
                           "[[\"gpu9\", \"cpu0\"]]\n" +
                           kFabric;
  const std::string found = mistakes_in(text);
  CAPTURE(found);
  CHECK(says(found, "box.toml:11:10: error: there is no device \"gpu9\" in the node"));
}

TEST_CASE("a job asks for nodes of each kind by name") {
  const Scenario asked = scenario("[launch]\nnodes_of = { a100 = 2, v100 = 1 }\n");
  CHECK(asked.launch.nodes_of == std::vector{1, 2});
  CHECK(asked.gpus == std::vector{1, 2, 4, 8, 12, 16});
  CHECK(scenario("", set({"launch.nodes_of.a100=1"})).gpus == std::vector{1, 2, 4});
  CHECK(scenario("[launch]\nexclude = [0, 3]\n").gpus == std::vector{1, 2, 4, 8, 12});
}

TEST_CASE("wrong names and numbers of nodes are shown with what there is") {
  CHECK(says(answer("[launch]\nnodes_of = { a10 = 2 }\n"), "has no kind of node \"a10\""));
  CHECK(says(answer("[launch]\nnodes_of = { a10 = 2 }\n"), "did you mean \"a100\""));
  CHECK(says(answer("[launch]\nnodes_of = { a100 = 3 }\n"),
             "s.toml:6:14: error: cluster two-generations has 2 nodes of kind a100, not 3"));
  CHECK(says(answer("[launch]\nnodes_of = { a100 = 0 }\n"), "leaves the job without nodes"));
  CHECK(says(answer("[launch]\nnodes_of = { a100 = 1 }\n[run]\ngpus = [5]\n"),
             "the nodes that [launch] leaves the job have 4 GPUs"));
  CHECK(says(answer("[launch]\nexclude = [4]\n"), "cluster two-generations has no node 4"));
  CHECK(says(answer("[launch]\nexclude = [0, 1, 2, 3]\n"), "launch.exclude leaves the job without nodes"));
}

TEST_CASE("wrong slow GPUs are shown with what there is") {
  CHECK(says(answer("[[launch.slow_gpus]]\nnode = 2\ngpu = 4\nclock = 0.8\n"), "node 2 has no GPU 4"));
  CHECK(says(answer("[[launch.slow_gpus]]\nnode = 9\ngpu = 4\nclock = 0.8\n"), "has no node 9"));
  CHECK(says(answer("[[launch.slow_gpus]]\nnode = 0\n"), "clock is missing"));
  CHECK(
      says(answer("[[launch.slow_gpus]]\nnode = 0\ngpu = 0\nclock = 1.5\n"), "clock must be a number from"));
  CHECK(says(answer("[launch]\nslow_gpus = [{ node = 0, gpu = 1, clock = 0.5 }, { node = 0, gpu = 1, clock = "
                    "0.5 }]\n"),
             "GPU 1 of node 0 is there twice"));
  CHECK(says(answer("[launch]\nslow_draw = { share = 2 }\n"), "share must be a number from 0 to 1"));
}

TEST_CASE("batches by kind of node, and what is wrong with them") {
  const Scenario batches = scenario("batch_per_gpu = { v100 = 32, a100 = 64 }\n");
  CHECK(batches.batch_of_kind == std::vector<std::int64_t>{32, 64});
  CHECK(says(batches.warnings.back() + batches.warnings.front(), "ranks with unlike batches"));
  const auto with = [](const std::string& line) {
    return test::scenario_mistakes("[cluster]\nname = \"two-generations\"\n[model]\nname = \"resnet50\"\n" +
                                   line);
  };
  CHECK(says(with("batch_per_gpu = { v100 = 32 }\n"), "has no batch for nodes of kind \"a100\""));
  CHECK(says(with("batch_per_gpu = { v100 = 32, a100 = 64, b = 1 }\n"), "has no kind of node \"b\""));
  CHECK(says(with("batch_per_gpu = {}\n"), "model.batch_per_gpu is empty"));
  CHECK(says(with("batch_per_gpu = \"balance\"\n"), "batch_per_gpu = \"balance\" needs global_batch"));
  CHECK(says(with("batch_per_gpu = 32\nglobal_batch = 64\n"), "model has both"));
}

TEST_CASE("balance and the global batch may be set one after the other") {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"model.global_batch=512", "model.batch_per_gpu=balance"},
        {"model.batch_per_gpu=balance", "model.global_batch=512"}}) {
    const Scenario both = scenario("batch_per_gpu = 32\n", set(settings));
    CHECK(both.balances);
    CHECK(both.global_batch == 512);
  }
  const Scenario again =
      scenario("batch_per_gpu = \"balance\"\nglobal_batch = 64\n", set({"model.batch_per_gpu=16"}));
  CHECK_FALSE(again.balances);
  CHECK_FALSE(again.global_batch);
}

TEST_CASE("a precision that one kind of node lacks is one that the whole job does not have") {
  const Scenario half = scenario("precision = \"tf32\"\n");
  CHECK(half.workload.precision == Precision::fp32);
  const Scenario on_a100 = scenario("precision = \"tf32\"\n[launch]\nnodes_of = { a100 = 2 }\n");
  CHECK(on_a100.workload.precision == Precision::tf32);
}

}  // namespace node_kinds_test
