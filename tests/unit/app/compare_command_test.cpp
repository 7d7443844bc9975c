// foretrain compare as people run it.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
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

TEST_CASE("a knob that no strategy has is a mistake with the nearest name") {
  check_refused("--model mnist_net --cluster puhti --strategies ddp --set strategy.bucket_kap=1MiB",
                "bucket_cap");
}

}  // namespace compare_command_test
