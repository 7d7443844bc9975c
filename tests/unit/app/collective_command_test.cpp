// `foretrain collective` and `validate` of collective times, as typed.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace collective_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kPuhti = "foretrain collective --cluster puhti --op all_reduce --gpus 4 ";

const std::string kHeader = "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n";

nlohmann::json json_of(const TemporaryFolder& folder, const std::string& arguments) {
  const ProgramRun run = folder.run(kPuhti + "--format json " + arguments);
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(run.output);
}

}  // namespace

TEST_CASE("what NCCL cannot do as wished is said beside JSON and CSV on standard error") {
  const TemporaryFolder folder;
  const std::string wished =
      "foretrain collective --cluster puhti --op alltoall --gpus 4 --sizes 1M --algorithm Ring ";
  const std::string warning =
      "warning: Ring has no effect on alltoall: NCCL makes it of sends and receives\n";
  for (const std::string format : {"json", "csv"}) {
    INFO(format);
    CHECK(folder.run(wished + "--format " + format + " 2>&1 >/dev/null").output == warning);
    CHECK(folder.run(wished + "--format " + format + " 2>/dev/null").exit_code == 0);
  }
  CHECK(folder.run(wished + "2>&1 >/dev/null").output.empty());
  CHECK_THAT(folder.run(wished + "2>/dev/null").output, ContainsSubstring("# " + warning));
}

TEST_CASE("a collective is printed as nccl-tests does by default") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kPuhti + "--sizes 8:1M:2");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output,
             ContainsSubstring(
                 "#       size         count      type   redop    root     time   algbw   busbw #wrong"));
  CHECK_THAT(run.output, ContainsSubstring("\n     1048576        262144     float     sum      -1 "));
  CHECK_THAT(run.output, ContainsSubstring("# Avg bus bandwidth    : "));
}

TEST_CASE(
    "one process drives the GPUs of one node, each GPU has its own over several, and the option decides "
    "otherwise") {
  const TemporaryFolder folder;
  const auto processes = [&](const std::string& arguments) {
    return json_of(folder, "--sizes 8 " + arguments)["processes_per_node"];
  };
  CHECK(processes("") == 1);
  CHECK(processes("--nodes 2").is_null());
  CHECK(processes("--launch-processes per-gpu").is_null());
  CHECK(processes("--nodes 2 --launch-processes one") == 1);
  CHECK(processes("--set launch.processes_per_node=2") == 2);
}

TEST_CASE("algorithm, protocol and channels can be forced, in any case") {
  const TemporaryFolder folder;
  const auto point = json_of(folder, "--sizes 64M --algorithm RING --protocol ll --channels 2")["points"][0];
  CHECK(point["algorithm"] == "Ring");
  CHECK(point["protocol"] == "LL");
  CHECK(point["channels"] == 2);
}

TEST_CASE("a version of NCCL keeps its last zero") {
  const TemporaryFolder folder;
  CHECK(json_of(folder, "--sizes 8 --set nccl.version=2.20")["library"] == "NCCL 2.20");
}

TEST_CASE("without GPUDirect the same rings between nodes are not faster") {
  const TemporaryFolder folder;
  const auto time = [&](const std::string& arguments) {
    return json_of(folder, "--nodes 2 --sizes 256M --algorithm ring --protocol simple " +
                               arguments)["points"][0]["time_s"]
        .get<double>();
  };
  CHECK(time("--set nccl.gdr=false") >= time("--set nccl.gdr=true"));
}

TEST_CASE("another transport is asked for by name") {
  const TemporaryFolder folder;
  CHECK(json_of(folder, "--sizes 1M --transport gloo_tcp")["library"] == "gloo");
  const ProgramRun unknown = folder.run(kPuhti + "--transport gloo_tpc");
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.output == "error: unknown transport \"gloo_tpc\"\n  hint: did you mean \"gloo_tcp\"?\n");
  CHECK_THAT(folder.run(kPuhti + "--transport gloo_tcp --protocol simple").output,
             ContainsSubstring("settings of NCCL do not change the transport gloo_tcp"));
}

TEST_CASE("another transport takes any family of the catalog, at every fidelity") {
  const TemporaryFolder folder;
  for (const char* fidelity : {"analytic", "flow", "chunk"}) {
    const nlohmann::json doubling = json_of(
        folder,
        fmt::format("--sizes 1M --transport plain --algorithm recursive_doubling --fidelity {}", fidelity));
    CHECK(doubling["points"][0]["algorithm"] == "recursive_doubling");
  }
  const ProgramRun unknown = folder.run(kPuhti + "--transport plain --algorithm rign");
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.output ==
        "error: unknown algorithm \"rign\" for all_reduce\n  hint: did you mean \"ring\"?\n");
  CHECK_THAT(folder.run(kPuhti + "--transport mpi_ib --algorithm nvls").output,
             ContainsSubstring("needs switches that reduce"));
}

TEST_CASE("the curve is drawn, with the measured rows of the same job over it") {
  const TemporaryFolder folder;
  folder.write(
      "m.csv",
      kHeader +
          "mine,puhti,all_reduce,4,1,1048576,60,,made up\nother,puhti,all_reduce,2,1,1048576,60,,made up\n");
  const ProgramRun run = folder.run(kPuhti + "--svg busbw.svg --measured m.csv -o table.txt");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(run.output.empty());
  const std::string svg = folder.read("busbw.svg");
  CHECK_THAT(svg, ContainsSubstring("measured: mine"));
  CHECK(svg.find("other") == std::string::npos);
  CHECK(folder.run(kPuhti + "--measured m.csv").exit_code == 2);  // nothing to draw on
}

TEST_CASE("questions about collectives that have no answer are refused with the reason") {
  const TemporaryFolder folder;
  const std::string any = "foretrain collective --cluster puhti --op all_reduce ";
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {any + "--gpus 0", "error: 0 GPUs run nothing\n"},
           {any + "--gpus -4", "error: -4 GPUs run nothing\n"},
           {any + "--gpus 321", "error: cluster puhti has 320 GPUs, not 321\n"},
           {any + "--gpus 8 --nodes 1",
            "error: 8 GPUs do not fit on 1 node of puhti\n  hint: a node has 4; take 2 nodes\n"},
           {any + "--gpus 8 --nodes 81", "error: cluster puhti has 80 nodes, not 81\n"},
           {any + "--gpus 2 --nodes 3", "error: 2 GPUs leave some of 3 nodes empty\n"},
           {kPuhti + "--sizes 1152921504606846976", "--sizes:1:1: error: sizes end at 1 PiB\n"},
           {kPuhti + "--sizes ''", "--sizes:1:1: error: there are no sizes\n"},
           {kPuhti + "--set nccl.alg=ring", "hint: did you mean \"algorithm\"?"},
           {kPuhti + "--set strategy.name=ddp", "error: unknown key \"strategy\""},
           {"foretrain collective --cluster puhtj --op all_reduce --gpus 4", "did you mean \"puhti\"?"},
           {"foretrain collective --cluster puhti --op all_redcue --gpus 4",
            "error: unknown op \"all_redcue\"\n  hint: did you mean \"all_reduce\""}}) {
    const ProgramRun run = folder.run(arguments + " -o out");
    INFO(arguments << "\n" << run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(message));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("usage errors of collective end with code 2") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"--op all_reduce --gpus 4", "--cluster puhti --gpus 4", "--cluster puhti --op all_reduce"}) {
    CHECK(folder.run(std::string("foretrain collective ") + arguments).exit_code == 2);
  }
  for (const char* arguments :
       {"--gpus x", "--format xml", "--algorithm rign", "--protocol ll64", "--channels 0", "--channels 65",
        "--fidelity exact", "--launch-processes two", "--nodes 0"}) {
    INFO(arguments);
    CHECK(folder.run(kPuhti + arguments).exit_code == 2);
  }
}

TEST_CASE("a file of training runs cannot be drawn over a collective") {
  const TemporaryFolder folder;
  folder.write(
      "m.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n");
  const ProgramRun run = folder.run(kPuhti + "--svg a.svg --measured m.csv");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("m.csv holds no collective times"));
}

TEST_CASE("measured collectives are validated as a table and as JSON") {
  const TemporaryFolder folder;
  folder.write("m.csv", kHeader +
                            "s,puhti,all_reduce,4,1,8388608,200,nccl.version=2.20,made "
                            "up\ns,nowhere,all_reduce,4,1,8,200,,made up\n");
  const ProgramRun table = folder.run("foretrain validate m.csv");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, ContainsSubstring("2 rows, 1 scored, 1 skipped"));
  CHECK_THAT(table.output, ContainsSubstring("1 row: unknown cluster \"nowhere\""));
  const ProgramRun json = folder.run("foretrain validate m.csv --format json");
  REQUIRE(json.exit_code == 0);
  const auto j = nlohmann::json::parse(json.output);
  CHECK(j["kind"] == "collective");
  CHECK(j["skipped"][0]["row"] == 3);
  CHECK(j["series"][0]["points"][0]["bytes"] == 8388608);
  CHECK(j["baseline"]["nccl_model"]["median"].is_number());
  CHECK(folder.run("foretrain validate m.csv --set nccl.wrong=1").exit_code == 1);
}

TEST_CASE("transports are listed") {
  CHECK_THAT(TemporaryFolder().run("foretrain list transports").output, ContainsSubstring("gloo_tcp"));
}

}  // namespace collective_command_test
