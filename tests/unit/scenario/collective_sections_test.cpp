// [nccl] and [launch]: what their keys mean, also as people spell them in --set, and what is refused.
#include "sim/scenario/sections/collective_sections.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace collective_sections_test {

using namespace foretrain;

namespace {

nccl::Settings nccl_of(const std::string& setting) { return read_collective_knobs({setting}).nccl; }

std::string refusal(const std::vector<std::string>& settings) {
  try {
    read_collective_knobs(settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Scenario scenario(const std::string& tables) {
  test::use_source_catalogs();
  return read_scenario(
      {"s.toml", "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1]\n" + tables},
      {});
}

}  // namespace

TEST_CASE("without settings NCCL is left to itself, with one process per GPU") {
  const CollectiveKnobs knobs = read_collective_knobs({});
  CHECK(knobs.settings() == CollectiveSettings{});
  CHECK_FALSE(knobs.gpudirect);
  CHECK_FALSE(knobs.processes_per_node);
}

TEST_CASE("a version is read as it is spelled, for TOML would take 2.20 for 2.2") {
  CHECK(nccl_of("nccl.version=2.20").version == nccl::parse_version("2.20"));
  CHECK(nccl_of("nccl.version=2.2").version == nccl::parse_version("2.2"));
  CHECK(nccl_of("nccl.version=2.18.3").version == nccl::Version{2, 18, 3});
  CHECK(nccl_of("nccl.version=\"2.18.3-1\"").version == nccl::Version{2, 18, 3});
  CHECK(scenario("[nccl]\nversion = 2.20\n").collective.nccl.version == nccl::parse_version("2.20"));
}

TEST_CASE("algorithms and protocols are known in any case") {
  CHECK(nccl_of("nccl.algorithm=RING").algorithm == nccl::Algorithm::ring);
  CHECK(nccl_of("nccl.algorithm=NVLSTree").algorithm == nccl::Algorithm::nvls_tree);
  CHECK(nccl_of("nccl.protocol=LL128").protocol == Protocol::ll128);
  CHECK(nccl_of("nccl.protocol=simple").protocol == Protocol::simple);
}

TEST_CASE("flags are true, false, 1 or 0 as in NCCL's environment") {
  CHECK_FALSE(nccl_of("nccl.nvls=0").nvls);
  CHECK_FALSE(nccl_of("nccl.p2p=false").p2p);
  CHECK(nccl_of("nccl.collnet=1").collnet);
  CHECK_FALSE(nccl_of("nccl.pxn=false").pxn);
  CHECK(read_collective_knobs({"nccl.gdr=0"}).gpudirect == false);
  CHECK(read_collective_knobs({"nccl.gdr=true"}).gpudirect == true);
}

TEST_CASE("numbers, sizes and choices arrive") {
  const CollectiveKnobs knobs =
      read_collective_knobs({"nccl.min_channels=4", "nccl.max_channels=8", "nccl.threads=256",
                             "nccl.buffer=8MiB", "nccl.cross_nic=always", "launch.processes_per_node=2"});
  CHECK(knobs.nccl.min_channels == 4);
  CHECK(knobs.nccl.max_channels == 8);
  CHECK(knobs.nccl.simple_threads == 256);
  CHECK(knobs.nccl.buffer_bytes == 8 << 20);
  CHECK(knobs.nccl.cross_nic == nccl::CrossNic::always);
  CHECK(knobs.settings().processes_per_node == 2);
  CHECK(nccl_of("nccl.cross_nic=0").cross_nic == nccl::CrossNic::never);
}

TEST_CASE("the last of two settings of one key counts") {
  CHECK(read_collective_knobs({"nccl.version=2.18", "nccl.version=2.26.2"}).nccl.version ==
        nccl::Version{2, 26, 2});
}

TEST_CASE("a scenario takes them as tables, and nccl.gdr changes its nodes") {
  const Scenario s =
      scenario("[nccl]\nalgorithm = \"tree\"\ngdr = false\n[launch]\nprocesses_per_node = 1\n");
  CHECK(s.collective.nccl.algorithm == nccl::Algorithm::tree);
  CHECK(s.collective.processes_per_node == 1);
  CHECK_FALSE(s.cluster.node.gpudirect);
  CHECK(scenario("").cluster.node.gpudirect);
}

TEST_CASE("mistakes in collective settings are shown whole") {
  CHECK(refusal({"nccl.algorithm=rign"}) ==
        R"(--set nccl.algorithm=rign:1:16: error: unknown nccl.algorithm "rign"
  1 | nccl.algorithm=rign
    |                ^^^^
  hint: did you mean "ring"?
)");
  CHECK(refusal({"nccl.protocol=ll127"}) ==
        R"(--set nccl.protocol=ll127:1:15: error: unknown nccl.protocol "ll127"
  1 | nccl.protocol=ll127
    |               ^^^^^
  hint: did you mean "ll128"?
)");
  CHECK(refusal({"nccl.version=new"}) ==
        R"(--set nccl.version=new:1:14: error: nccl.version is no version of NCCL
  1 | nccl.version=new
    |              ^^^
  hint: as in nccl.version = "2.18.3"
)");
  CHECK(refusal({"nccl.version=2.99"}) ==
        R"(--set nccl.version=2.99:1:14: error: there is no NCCL 2.99
  1 | nccl.version=2.99
    |              ^^^^
  hint: the newest that is known here is 2.30.7
)");
  CHECK(refusal({"nccl.version=3.1"}) != "");
  CHECK(refusal({"nccl.version=2.31.1"}) == "");  // younger than this program
  CHECK(refusal({"nccl.min_channels=9", "nccl.max_channels=8"}) ==
        R"(--set nccl.min_channels=9:1:19: error: nccl.min_channels is more than nccl.max_channels
  1 | nccl.min_channels=9
    |                   ^
)");
  CHECK(refusal({"nccl.threds=256"}) == R"(--set nccl.threds=256:1:6: error: unknown key "threds" in [nccl]
  1 | nccl.threds=256
    |      ^^^^^^
  hint: did you mean "threads"?
)");
}

TEST_CASE("values beyond their range and of the wrong kind are refused") {
  for (const char* setting :
       {"nccl.min_channels=0", "nccl.max_channels=65", "nccl.threads=32", "nccl.buffer=4", "nccl.nvls=2",
        "nccl.gdr=no", "nccl.cross_nic=3", "nccl.cross_nic=sometimes", "nccl.version=[2]",
        "nccl.version=true", "nccl.version=2", "launch.processes_per_node=0", "launch.processes_per_node=65",
        "strategy.name=ddp", "nccl=1", "launch"}) {
    INFO(setting);
    CHECK_THAT(refusal({setting}), ContainsSubstring("error: "));
  }
}

}  // namespace collective_sections_test
