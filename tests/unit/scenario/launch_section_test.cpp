// launch.with, data.sampler, and numbers of GPUs on which a strategy cannot run.
#include "sim/scenario/sections/launch_section.hpp"

#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace launch_section_test {

using namespace foretrain;

namespace {

std::string text_with(const std::string& strategy, const std::string& more) {
  return "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[strategy]\nname = \"" + strategy +
         "\"\n" + more;
}

Scenario read(const std::string& strategy, const std::string& more, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", text_with(strategy, more)}, overrides);
}

std::string mistakes(const std::string& strategy, const std::string& more) {
  return test::scenario_mistakes(text_with(strategy, more));
}

}  // namespace

TEST_CASE("launch and sampler are read, and by default nothing is wrong with them") {
  const Scenario usual = read("ddp", "");
  CHECK_FALSE(usual.launch.with);
  CHECK(usual.launch.processes_per_node == 0);
  CHECK(usual.sampler == Sampler::distributed);
  const Scenario other =
      read("ddp", "[launch]\nwith = \"mp_spawn\"\nprocesses_per_node = 2\n[data]\nsampler = \"none\"\n");
  CHECK(other.launch.with == Launcher::mp_spawn);
  CHECK(other.launch.processes_per_node == 2);
  CHECK(other.collective.processes_per_node == 2);
  CHECK(other.sampler == Sampler::none);
}

TEST_CASE("an unknown launcher or sampler gets the nearest name") {
  CHECK_THAT(mistakes("ddp", "[launch]\nwith = \"torchrunn\"\n"),
             ContainsSubstring("did you mean \"torchrun\"?"));
  CHECK_THAT(mistakes("ddp", "[data]\nsampler = \"distribute\"\n"),
             ContainsSubstring("did you mean \"distributed\"?"));
}

TEST_CASE("a launcher that starts a process for each GPU does not suit a strategy of one process") {
  CHECK(mistakes("data_parallel", "[launch]\nwith = \"torchrun\"\n[run]\ngpus = [4]\n") ==
        R"(s.toml:8:8: error: torchrun starts a process for each GPU
  8 | with = "torchrun"
    |        ^^^^^^^^^^
  hint: data_parallel is one process, which drives all GPUs: launch.with = "python"
)");
  CHECK(mistakes("data_parallel", "[launch]\nwith = \"python\"\n[run]\ngpus = [4]\n").empty());
  CHECK(mistakes("horovod", "[launch]\nwith = \"horovodrun\"\n").empty());
}

TEST_CASE("impossible numbers of processes are mistakes") {
  CHECK_THAT(mistakes("ddp", "[launch]\nprocesses_per_node = 5\n"),
             ContainsSubstring("5 processes for 4 GPUs of a node"));
  CHECK_THAT(mistakes("ddp", "[launch]\nwith = \"python\"\nprocesses_per_node = 2\n"),
             ContainsSubstring("python starts one process, not 2"));
  CHECK_THAT(mistakes("data_parallel", "[launch]\nprocesses_per_node = 2\n[run]\ngpus = [2]\n"),
             ContainsSubstring("2 processes on a node would each drive all its GPUs"));
}

TEST_CASE("listed numbers of GPUs on which the strategy cannot run are one mistake that names them") {
  CHECK(
      mistakes("data_parallel", "[run]\ngpus = [1, 4, 8, 16]\n") ==
      R"(s.toml:8:8: error: data_parallel cannot run on 8, 16 GPUs: data_parallel is one process, which cannot drive GPUs of 2 nodes
  8 | gpus = [1, 4, 8, 16]
    |        ^^^^^^^^^^^^^
  hint: up to 4 GPUs
)");
}

TEST_CASE("by default such numbers are left out with a warning") {
  const Scenario scenario = read("data_parallel", "");
  CHECK(scenario.gpus == std::vector<int>{1, 2, 4});
  REQUIRE_FALSE(scenario.warnings.empty());
  CHECK_THAT(
      scenario.warnings.front(),
      ContainsSubstring("8, 16, 32, 64, 128, 256, 320 GPUs are left out: data_parallel is one process"));
}

TEST_CASE("an anchor on GPUs that the strategy cannot use is a mistake") {
  CHECK_THAT(mistakes("data_parallel", "[run]\ngpus = [4]\n[measured]\ngpus = 8\nstep = \"1 s\"\n"),
             ContainsSubstring("s.toml:10:8: error: data_parallel cannot run on 8 GPUs"));
}

TEST_CASE(
    "one of several strategies keeps all numbers of GPUs, and leaves out options and a launch meant for "
    "another") {
  ScenarioOverrides overrides;
  overrides.one_of_several = true;
  overrides.strategy = "data_parallel";
  const std::string text = "bucket_cap = \"10 MiB\"\n[launch]\nwith = \"torchrun\"\n[run]\ngpus = [4, 8]\n";
  const Scenario compared = read("ddp", text, overrides);
  CHECK(compared.strategy == "data_parallel");
  CHECK(compared.gpus == std::vector<int>{4, 8});
  CHECK_FALSE(compared.launch.with);
  CHECK(compared.knobs.get<DdpOptions>().bucket_cap == DdpOptions{}.bucket_cap);
  overrides.strategy = "ddp";
  const Scenario own = read("ddp", text, overrides);
  CHECK(own.launch.with == Launcher::torchrun);
  CHECK(own.knobs.get<DdpOptions>().bucket_cap == Bytes{10 << 20});
}

TEST_CASE("a strategy of another framework runs with that framework's defaults") {
  ScenarioOverrides overrides;
  overrides.one_of_several = true;
  overrides.strategy = "mirrored";
  const std::string text =
      "[framework]\nname = \"pytorch\"\nversion = \"1.11\"\n[loop]\nhooks = \"lightning\"\n[run]\ngpus = "
      "[4]\n";
  const Scenario compared = read("ddp", text, overrides);
  CHECK(compared.workload.framework.kind == FrameworkKind::tensorflow);
  CHECK(compared.workload.framework.version == usual_framework(FrameworkKind::tensorflow).version);
  CHECK(compared.workload.loop.hooks == LoopHooks::keras);
  overrides.strategy = "horovod";
  const Scenario same = read("ddp", text, overrides);
  CHECK(same.workload.framework.version == FrameworkVersion{1, 11});
  CHECK(same.workload.loop.hooks == LoopHooks::lightning);
}

TEST_CASE("an anchor's step holds all micro-steps") {
  const Scenario scenario =
      read("ddp", "accumulation = 4\n[run]\ngpus = [1]\n[measured]\nsamples_per_s = 64\n");
  REQUIRE(scenario.anchor);
  CHECK(scenario.anchor->step_s == Approx(32.0 * 4 / 64));  // a default batch of 32, four of them a step
}

TEST_CASE("one process needs no sampler, which is said") {
  const Scenario scenario = read("data_parallel", "[data]\nsampler = \"none\"\n[run]\ngpus = [2]\n");
  CHECK(scenario.warnings ==
        std::vector<std::string>{
            "data.sampler has no effect with strategy data_parallel, which is one process"});
}

}  // namespace launch_section_test
