// foretrain compare as people run it.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/program_text.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace compare_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kSmall = "foretrain compare --model mnist_net --cluster puhti --gpus 1,4 ";

void check_refused(const std::string& arguments, const std::string& message) {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("foretrain compare " + arguments);
  INFO(arguments);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring(message));
}

}  // namespace

TEST_CASE("a comparison of a model on a cluster needs no file, and by default has every strategy") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kSmall);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("mnist_net on puhti, fp32, batch 32 per GPU"));
  for (const char* strategy : {"  single ", "  ddp ", "  horovod ", "  data_parallel "})
    CHECK_THAT(run.output, ContainsSubstring(strategy));
  CHECK_THAT(run.output, ContainsSubstring("a step: +"));
}

TEST_CASE("recorded programs that compare is given are shown side by side") {
  const TemporaryFolder folder;
  folder.write("two.toml", test::program_text({.ranks = 8, .layers = 2}));
  folder.write("four.toml", test::program_text({.ranks = 8, .layers = 4}));
  const ProgramRun run = folder.run("foretrain compare two.toml four.toml --cluster mahti");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("In a step of rank 0          two        four\n"));
  CHECK_THAT(run.output, ContainsSubstring("\noperators                      5           9\n"));
  CHECK_THAT(run.output, ContainsSubstring("\nall_gather            2, 4.19 MB  4, 8.39 MB\n"));
  check_refused("two.toml", "two.toml: error: does not exist");
}

TEST_CASE("the JSON of compare parses, and -o writes it to a file") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kSmall + "--strategies dp,ddp --format json -o c.json");
  REQUIRE(run.exit_code == 0);
  CHECK(run.output.empty());
  const auto json = nlohmann::json::parse(folder.read("c.json"));
  CHECK(json["schema"] == "foretrain.comparison/1");
  CHECK(json["points"].size() == 2);
  CHECK(json["points"][1]["strategies"].size() == 2);
}

TEST_CASE("every scenario of the catalog can be compared") {
  const TemporaryFolder folder;
  for (const char* scenario :
       {"csc-mnist-ddp", "chtc-cifar-ddp-spawn", "workshop-mnist-ddp", "raven-spiral-ddp"}) {
    const ProgramRun run = folder.run(std::string("foretrain compare ") + scenario);
    INFO(scenario << run.output);
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("GPUs are compared by name, each in a usual server, which the answer says") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("foretrain compare --model mnist_net --gpu t4,rtx3090 --gpus 1,2");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("gpu:rtx-3090 is one node with 4 of these GPUs"));
  folder.run(
      "foretrain compare --model mnist_net --gpu t4,rtx3090 --gpus 1,2 --price t4=1,rtx3090=2 --format json "
      "-o machines.json");
  const auto json = nlohmann::json::parse(folder.read("machines.json"));
  CHECK(json["rows"].size() == 4);
  CHECK(json["assumed"].size() == 2);
  for (const auto& row : json["rows"]) CHECK(row["cost"].is_number());
}

TEST_CASE("GPU names with several readings or none are refused all at once") {
  check_refused("--model mnist_net --gpus 1 --gpu v100,rtx-3091",
                "\"v100\" may be one of 5 GPUs: v100-pcie-16gb, v100-pcie-32gb");
  check_refused("--model mnist_net --gpus 1 --gpu v100,rtx-3091", "unknown GPU \"rtx-3091\"");
  check_refused("--model mnist_net --gpus 1 --gpu t4,t4", "--gpu has t4 twice");
}

TEST_CASE("the best strategy of each model on each cluster") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain compare --models mnist_net,resnet18 --clusters puhti,mahti --gpus 4 --format csv");
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("gpus,model,cluster,best,"));
  CHECK_THAT(run.output, ContainsSubstring("\n4,resnet18,mahti,"));
}

TEST_CASE("wrong lists of strategies are answered") {
  check_refused("--model mnist_net --cluster puhti --strategies ddp,horovood", "did you mean \"horovod\"");
  check_refused("--model mnist_net --cluster puhti --strategies ''", "--strategies has an empty name");
  check_refused("--model mnist_net --cluster puhti --strategies ddp,horovod,ddp",
                "--strategies has ddp twice");
  check_refused("--model mnist_net --cluster puhti --gpus 8 --strategies data_parallel",
                "none of the strategies runs on these GPUs");
}

TEST_CASE("wrong questions for the table of best strategies are answered") {
  check_refused("csc-mnist-ddp --models mnist_net --clusters puhti --gpus 4",
                "a scenario has one model and one cluster");
  check_refused("--models mnist_net --gpus 4", "--models and --clusters go together");
  check_refused("--models mnist_net --clusters puhti", "how many GPUs?");
  check_refused("--models mnist_net,mnist_net --clusters puhti --gpus 4", "--models has mnist_net twice");
  check_refused("--models mnist_nett --clusters puhti --gpus 4", "did you mean \"mnist_net\"");
}

TEST_CASE("clusters without models ask which machine to use, and one V100 beats two P100 on M3") {
  const TemporaryFolder folder;
  const ProgramRun run =
      folder.run("foretrain compare m3-resnet56-mirrored-v100 --clusters m3-p100,m3-v100 --gpus 1,2");
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, StartsWith("One V100 of m3-v100 beats two P100 of m3-p100: 1."));
  const ProgramRun json = folder.run(
      "foretrain compare m3-resnet56-mirrored-v100 --clusters m3-p100,m3-v100 --gpus 1,2 --format json -o "
      "m.json");
  REQUIRE(json.exit_code == 0);
  const auto machines = nlohmann::json::parse(folder.read("m.json"));
  CHECK(machines["schema"] == "foretrain.machines/1");
  REQUIRE(machines["rows"].size() == 4);
  CHECK(machines["rows"][0]["cluster"] == "m3-v100");
  CHECK(machines["rows"][0]["gpus"] == 1);
  CHECK(machines["rows"][3]["cluster"] == "m3-p100");
  CHECK(machines["rows"][3]["gpus"] == 2);
}

TEST_CASE("numbers of GPUs come from the scenario when none are given") {
  const TemporaryFolder folder;
  const ProgramRun run =
      folder.run("foretrain compare m3-resnet56-mirrored-p100 --clusters m3-v100,m3-k80 --format csv");
  REQUIRE(run.exit_code == 0);
  for (const char* row : {",m3-v100,v100-pcie-16gb,1,", ",m3-v100,v100-pcie-16gb,2,", ",m3-k80,k80,2,"})
    CHECK_THAT(run.output, ContainsSubstring(row));
  CHECK_THAT(run.output, !ContainsSubstring(",m3-v100,v100-pcie-16gb,3,"));
}

TEST_CASE("a deadline names the cheapest machine that keeps it") {
  const TemporaryFolder folder;
  const std::string asked =
      "foretrain compare puhti-resnet50-ddp --clusters puhti,mahti --gpus 4,8 --epochs 90 --quiet "
      "--deadline ";
  CHECK_THAT(folder.run(asked + "12h").output, StartsWith("Eight A100 of mahti keep 12 h with 95 %"));
  CHECK_THAT(folder.run(asked + "1h").output, StartsWith("No machine keeps 60 min with 95 %."));
}

TEST_CASE("a measured run of another cluster does not calibrate these machines, and a warning says so") {
  const TemporaryFolder folder;
  CHECK_THAT(folder.run("foretrain compare puhti-resnet50-ddp --clusters mahti --gpus 1").output,
             ContainsSubstring("[measured] is of resnet50 on puhti"));
}

TEST_CASE("wrong questions about machines are answered") {
  check_refused("m3-resnet56-mirrored-v100 --clusters m3-p10 --gpus 1", "did you mean \"m3-p100\"");
  check_refused("--clusters puhti,mahti --gpus 1", "none is named");
  check_refused("--model resnet50 --clusters puhti,mahti", "how many GPUs?");
  check_refused("csc-mnist-ddp raven-spiral-ddp --clusters puhti --gpus 1", "for one training");
  check_refused("csc-mnist-ddp --cluster puhti --clusters mahti --gpus 1", "leave one of them out");
  check_refused("csc-mnist-ddp --clusters mahti --gpus 1 --strategies ddp",
                "--strategies compares strategies");
  check_refused("csc-mnist-ddp --clusters mahti --gpus 1 --html m.html", "--html has no page of machines");
  check_refused("csc-mnist-ddp --clusters mahti --gpus 1 --price puhti=1", "--price names puhti");
  check_refused("csc-mnist-ddp --clusters mahti --gpus 1 --price mahti=cheap", "has no price of a GPU-hour");
  check_refused("csc-mnist-ddp --clusters mahti --gpus 1 --deadline 2026-12-01", "is a date");
  check_refused("csc-mnist-ddp --deadline 8h", "--deadline compares machines, and none are named");
  check_refused("--models mnist_net --clusters puhti --gpus 4 --price 2", "--price compares machines");
  check_refused("--model mnist_net --clusters mahti --gpus 1000", "cluster mahti has 96 GPUs");
}

TEST_CASE("a knob that no strategy has is a mistake with the nearest name") {
  check_refused("--model mnist_net --cluster puhti --strategies ddp --set strategy.bucket_kap=1MiB",
                "bucket_cap");
}

}  // namespace compare_command_test
