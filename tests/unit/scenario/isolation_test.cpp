// launch.isolation, launch.shm and nccl_tests.*: what they mean, and what contradicts them.
#include "sim/scenario/job.hpp"
#include "sim/scenario/sections/collective_sections.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace isolation_test {

using namespace foretrain;

namespace {

std::string text_on(const std::string& cluster, const std::string& more) {
  return "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"" + cluster +
         "\"\n[strategy]\nname = \"ddp\"\n" + more;
}

Scenario read(const std::string& cluster, const std::string& more) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", text_on(cluster, more)}, {});
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    read_collective_knobs(settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ranks know of each other unless the launch says they are pods or containers") {
  CHECK(read("puhti", "").collective.nccl.isolation == nccl::Isolation::none);
  CHECK(read("puhti", "[launch]\nisolation = \"pod\"\n").collective.nccl.isolation == nccl::Isolation::pod);
  CHECK(read_collective_knobs({"launch.isolation=container"}).nccl.isolation == nccl::Isolation::container);
  CHECK_THAT(refusal({"launch.isolation=pots"}), ContainsSubstring("did you mean \"pod\"?"));
}

TEST_CASE("pods that share a machine are a warning, one to a machine is none") {
  const auto warned = [](const std::string& cluster, const std::string& tables) {
    for (const std::string& warning : read(cluster, "[launch]\nisolation = \"pod\"\n" + tables).warnings)
      if (warning.find("NCCL takes every rank for a node of its own") != std::string::npos) return true;
    return false;
  };
  CHECK(warned("puhti", "[run]\ngpus = [4]\n"));
  CHECK_FALSE(warned("star-1gpu", "[run]\ngpus = [4]\n"));
}

TEST_CASE("pods cannot be told to use P2P or NVLS") {
  const std::string told =
      test::scenario_mistakes(text_on("puhti", "[launch]\nisolation = \"pod\"\n[nccl]\np2p = true\n"));
  CHECK_THAT(told,
             ContainsSubstring("s.toml:8:13: error: launch.isolation = \"pod\" leaves no way for nccl.p2p "
                               "= true\n  8 | isolation = \"pod\"\n    |             ^^^^^\n"));
  CHECK_THAT(told, ContainsSubstring("hint: ranks with host names of their own meet over the network"));
  CHECK_THAT(refusal({"launch.isolation=container", "nccl.nvls=1"}), ContainsSubstring("nccl.nvls = true"));
  CHECK(refusal({"launch.isolation=pod", "nccl.p2p=false", "nccl.nvls=0"}).empty());
}

TEST_CASE("a /dev/shm that is too small is the error that it is to NCCL") {
  const std::string docker = "[launch]\nshm = \"64 MB\"\n[nccl]\nversion = \"2.12\"\n[run]\ngpus = [8]\n";
  // four channels around eight GPUs without peer access: 32 connections of 9,637,888 B
  const std::string told = test::scenario_mistakes(text_on("rtx4090-8gpu", docker));
  CHECK_THAT(told,
             ContainsSubstring("s.toml:8:7: error: NCCL stops with \"Error while creating shared memory "
                               "segment /dev/shm/nccl-* (size 9637888)\", No space left on device: 32 "
                               "connections of 8 GPUs need 308 MB\n"));
  CHECK_THAT(told, ContainsSubstring("  8 | shm = \"64 MB\"\n    |       ^^^^^^^\n"));
  const auto fits = [](const std::string& cluster, const std::string& tables) {
    return test::scenario_mistakes(text_on(cluster, tables)).empty();
  };
  CHECK(fits("rtx4090-8gpu", "[launch]\nshm = \"1 GB\"\n[run]\ngpus = [8]\n"));
  CHECK(
      fits("rtx4090-8gpu", "[launch]\nshm = \"64 MB\"\nisolation = \"pod\"\n[run]\ngpus = [8]\n"));  // unused
  CHECK(fits("puhti", "[launch]\nshm = \"64 MB\"\n[run]\ngpus = [4]\n"));                            // NVLink
  CHECK(fits("rtx4090-8gpu", "[launch]\nshm = \"64 MB\"\n[run]\ngpus = [1]\n"));
}

TEST_CASE("how the loop of nccl-tests was run are settings of a row, and of no scenario") {
  const CollectiveSettings loop =
      read_collective_knobs({"nccl_tests.iterations=5", "nccl_tests.threads=8"}).settings();
  CHECK(loop.iterations == 5);
  CHECK(loop.threads_per_process == 8);
  CHECK_THAT(refusal({"nccl_tests.iterations=0"}), ContainsSubstring("an integer from 1 to 1000000"));
  CHECK_THAT(refusal({"nccl_tests.threads=65"}), ContainsSubstring("an integer from 1 to 64"));
  CHECK_THAT(refusal({"nccl_tests.warmup=5"}), ContainsSubstring("unknown key \"warmup\""));
  CHECK_THAT(test::scenario_mistakes(text_on("puhti", "[nccl_tests]\nthreads = 2\n")),
             ContainsSubstring("unknown key \"nccl_tests\""));
}

}  // namespace isolation_test
