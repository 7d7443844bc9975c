// foretrain predict of several scenarios and of a study, as people run it.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace study_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kSmall =
    "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1, 2]\n";

/// In a folder with two scenarios and a study.
ProgramRun run(const std::string& line) {
  const TemporaryFolder folder;
  folder.write("a.toml", kSmall);
  folder.write("b.toml", kSmall + "[strategy]\nname = \"horovod\"\n");
  folder.write("study.toml", kSmall + "[study]\nbatch = [32, 64]\n");
  return folder.run("foretrain " + line);
}

void check_refused(const std::string& line, const std::string& message) {
  const ProgramRun refused = run(line);
  INFO(line);
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.output, ContainsSubstring(message));
}

}  // namespace

TEST_CASE("options for keys and --set go together, in any order") {
  const std::string line = "predict a.toml --gpus 1 --format json --set data.samples=1000 ";
  const auto scenario = [&](const std::string& options) {
    const ProgramRun got = run(line + options);
    INFO(options);
    REQUIRE(got.exit_code == 0);
    return nlohmann::json::parse(got.output);
  };
  const auto both = scenario("--epochs 90 --precision amp_fp16 --set model.batch_per_gpu=16");
  CHECK(both == scenario("--set model.batch_per_gpu=16 --precision amp_fp16 --epochs 90"));
  CHECK(both["precision"] == "amp_fp16");
  const auto& point = both["points"][0];
  CHECK(point["batch_per_gpu"] == 16);
  CHECK(point["total_s"].get<double>() > 80 * point["epoch_s"].get<double>());  // ninety epochs, not one
}

TEST_CASE("a study prints one table with a line for each combination") {
  const ProgramRun table = run("predict study.toml");
  INFO(table.output);
  REQUIRE(table.exit_code == 0);
  CHECK_THAT(table.output, ContainsSubstring("study: mnist_net on puhti with ddp in fp32, by batch"));
  CHECK_THAT(table.output, ContainsSubstring("\nFastest: batch ") && ContainsSubstring("\nCheapest: batch "));
}

TEST_CASE("a study as JSON and as CSV") {
  const auto json = nlohmann::json::parse(run("predict study.toml --format json").output);
  CHECK(json["schema"] == "foretrain.study/1");
  CHECK(json["combinations"].size() == 4);
  CHECK(json["combinations"][3]["settings"]["batch"] == 64);
  const std::string csv = run("predict study.toml --format csv").output;
  CHECK(csv.starts_with("scenario,batch,gpus,nodes,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
}

TEST_CASE("a study may come from the command line alone") {
  const ProgramRun table =
      run("predict --model mnist_net --cluster puhti --set 'study.strategy=[\"dp\",\"ddp\"]' --set "
          "study.gpus=[2,8]");
  INFO(table.output);
  REQUIRE(table.exit_code == 0);
  CHECK_THAT(table.output, ContainsSubstring("not here: data_parallel is one process"));
}

TEST_CASE("options without an effect on a study are refused") {
  check_refused("predict study.toml --scaling strong",
                "--scaling has no effect on the combinations of a study");
  check_refused("predict study.toml --break-even 2", "--break-even has no effect");
  check_refused("predict study.toml --sensitivity", "--sensitivity has no effect");
}

TEST_CASE("what shows one scenario is refused for a study and for several, and a study among several") {
  check_refused("predict study.toml --trace trace.json", "--trace shows one scenario");
  check_refused("predict a.toml b.toml --trace trace.json", "--trace shows one scenario, not several");
  check_refused("predict a.toml study.toml", "study.toml has a [study], which is a table of its own");
}

TEST_CASE("several scenarios are predicted one below the other, with a closing table") {
  const ProgramRun tables = run("predict a.toml b.toml --gpus 1,4 --details");
  INFO(tables.output);
  REQUIRE(tables.exit_code == 0);
  CHECK_THAT(tables.output, ContainsSubstring("a: mnist_net on puhti with ddp") &&
                                ContainsSubstring("\nb: mnist_net on puhti with horovod"));
  CHECK_THAT(tables.output, ContainsSubstring("\nscenario ") && ContainsSubstring("\na             4 ") &&
                                ContainsSubstring("\nb             4 "));
}

TEST_CASE("several scenarios as JSON and as CSV, and one alone as ever") {
  const auto json = nlohmann::json::parse(run("predict a.toml b.toml --format json").output);
  CHECK(json["schema"] == "foretrain.predictions/1");
  REQUIRE(json["predictions"].size() == 2);
  CHECK(json["predictions"][1] == nlohmann::json::parse(run("predict b.toml --format json").output));
  const std::string csv = run("predict a.toml b.toml --format csv").output;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
  CHECK_THAT(csv, ContainsSubstring("\nb,mnist_net,puhti,horovod,"));
}

TEST_CASE("mistakes of several scenarios are reported at once, and nothing runs") {
  check_refused("predict a.toml missing b.toml --set run.epochs=x", "unknown scenario \"missing\"");
  check_refused("predict a.toml missing b.toml --set run.epochs=x",
                "--set run.epochs=x:1:12: error: run.epochs must be a number");
  check_refused("predict a.toml missing b.toml --set run.epochs=x", "2 errors");
  check_refused("compare a.toml missing nothing", "2 errors");
}

TEST_CASE("several scenarios are compared one after the other, with a closing table") {
  const ProgramRun tables = run("compare a.toml b.toml --strategies dp,ddp");
  INFO(tables.output);
  REQUIRE(tables.exit_code == 0);
  CHECK_THAT(tables.output,
             ContainsSubstring("\nscenario   GPUs  best ") && ContainsSubstring("\na             2  "));
  const auto json =
      nlohmann::json::parse(run("compare a.toml b.toml --strategies dp,ddp --format json").output);
  CHECK(json["schema"] == "foretrain.comparisons/1");
  CHECK(json["comparisons"].size() == 2);
  const std::string csv = run("compare a.toml b.toml --strategies dp,ddp --format csv").output;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 9);
}

TEST_CASE("a comparison of a scenario with a study says that it leaves the study out") {
  CHECK_THAT(run("compare study.toml --strategies dp,ddp").output,
             ContainsSubstring("the combinations of [study] are not compared"));
}

TEST_CASE("studies that nobody should ask for are refused at once") {
  std::string many;
  for (int i = 1; i <= 10'000; ++i) many += std::to_string(i) + ",";
  const TemporaryFolder folder;
  folder.write("many.toml", kSmall + "[study]\nbatch = [" + many + "]\nworkers = [" + many + "]\n");
  const ProgramRun refused = folder.run("foretrain predict many.toml");
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.size() < 2000);
  CHECK_THAT(refused.output, ContainsSubstring("has 100000000 combinations, at most 200 are predicted"));
}

}  // namespace study_command_test
