// foretrain plan as people run it, and what predict and compare do with [parallel].
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace plan_command_test {

using namespace foretrain;
using nlohmann::json;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kFixed =
    " --model llama3_2_1b --cluster mahti --precision bf16 --set parallel.sequence=2048 --set "
    "parallel.tensor=1 --set parallel.pipeline=1 ";

ProgramRun planned(const std::string& options) {
  return TemporaryFolder().run("foretrain plan" + kFixed + "--global-batch 64 " + options);
}

ProgramRun predicted(const TemporaryFolder& folder, const std::string& options) {
  return folder.run("foretrain predict" + kFixed + "--set parallel.global_batch=64 " + options);
}

}  // namespace

TEST_CASE("plan takes several numbers of GPUs, or of nodes, and says which is the last that pays") {
  const TemporaryFolder folder;
  const ProgramRun gpus =
      folder.run("foretrain plan" + kFixed + "--global-batch 64 --gpus 4,8 --format json --html page.html");
  INFO(gpus.output);
  REQUIRE(gpus.exit_code == 0);
  const std::string page = folder.read("page.html");
  for (const char* part : {"\"kind\":\"plan\"", "\"schema\":\"foretrain.plans/1\"", "\"on_front\":true",
                           "\"exposed_communication_s\":"})
    CHECK_THAT(page, ContainsSubstring(part));
  const json out = json::parse(gpus.output);
  CHECK(out["schema"] == "foretrain.plans/1");
  REQUIRE(out["counts"].size() == 2);
  CHECK(out["counts"][0]["plan"]["layouts"][0]["step_90"]["low"].is_number());
  CHECK(planned("--nodes 1,2 --format json").output == gpus.output);  // of four GPUs each
  CHECK_THAT(planned("--gpus 4,8").output, ContainsSubstring("<-: the last number that pays"));
}

TEST_CASE("plan says what is wrong with its numbers") {
  for (const auto& [options, message] : {std::pair{"", "how many GPUs?"},
                                         {"--gpus 4 --nodes 1", "say the same twice"},
                                         {"--gpus 4096", "cluster mahti has only 96 GPUs"},
                                         {"--gpus four", "is no number"},
                                         {"--gpus 4 --sbatch job.sh", "needs the number of samples"}}) {
    const ProgramRun run = planned(options);
    INFO(options << ": " << run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(message));
  }
}

TEST_CASE("plan and predict write job scripts with the framework's program and a time limit") {
  const TemporaryFolder folder;
  const std::string data = "--set data.samples=10000 --sbatch job.sh ";
  REQUIRE(folder.run("foretrain plan" + kFixed + "--global-batch 64 --gpus 4 " + data).exit_code == 0);
  const std::string script = folder.read("job.sh");
  CHECK_THAT(script, ContainsSubstring("pretrain_gpt.py"));
  CHECK_THAT(script, ContainsSubstring("#SBATCH --time="));
  const ProgramRun run = predicted(folder, "--gpus 4,8 --recommend --format json " + data);
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(folder.read("job.sh"), ContainsSubstring("--train-iters 157"));
  const json best = json::parse(run.output)["recommendation"]["best"];
  CHECK_THAT(best["strategy"].get<std::string>(), ContainsSubstring("DP "));
}

TEST_CASE("a trace of a large model ends when the printed step does") {
  const TemporaryFolder folder;
  const ProgramRun run = predicted(folder, "--gpus 8 --trace trace.json --format json");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  const double step_us = 1e6 * json::parse(run.output)["points"][0]["step_s"].get<double>();
  double last = 0;
  const json trace = json::parse(folder.read("trace.json"));
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  CHECK(last == Approx(step_us).epsilon(1e-6));
}

TEST_CASE("tensor ranks over nodes are warned of with what they cost") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain predict --model llama3_2_1b --cluster mahti --precision bf16 --set parallel.sequence=2048 "
      "--set parallel.tensor=8 --set parallel.pipeline=1 --set parallel.global_batch=64 --gpus 8");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("tensor = 8 spans 2 nodes of 4 GPUs"));
  CHECK_THAT(run.output, ContainsSubstring("exchanges of tensor ranks over nodes take "));
}

TEST_CASE("compare holds layouts of a study against each other") {
  const TemporaryFolder folder;
  folder.write(
      "layouts.toml",
      "[model]\nname = \"llama3_2_1b\"\nprecision = \"bf16\"\n[cluster]\nname = \"mahti\"\n[parallel]\n"
      "sequence = 2048\nglobal_batch = 64\n[study]\n\"parallel.tensor\" = [1, 2]\n");
  const ProgramRun run = folder.run("foretrain compare layouts.toml --gpus 8 --format json");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  const json point = json::parse(run.output)["points"][0];
  CHECK(point["strategies"].size() == 2);
  CHECK_THAT(point["verdict"].get<std::string>(), ContainsSubstring("tensor 1"));
}

}  // namespace plan_command_test
