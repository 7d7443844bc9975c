// --dataset on the command line: names of the catalog, folders and files, and settings that win over them.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace data_set_option_test {

using foretrain::test::ProgramRun;
using foretrain::test::TemporaryFolder;

namespace {

const std::string kQuestion = "foretrain predict --model resnet50 --cluster puhti --gpus 1,4 ";

}  // namespace

TEST_CASE("a data set of the catalog gives samples and what they cost, settings win") {
  const TemporaryFolder folder;
  CHECK(folder.run(kQuestion + "--dataset ImageNet --format csv").output ==
        folder.run(kQuestion + "--set data.name=imagenet --format csv").output);
  for (const char* name : {"cifar10", "CIFAR-100", "mnist", "coco"}) {
    INFO(name);
    CHECK(folder.run(kQuestion + "--dataset " + name).exit_code == 0);
  }
  CHECK(folder.run(kQuestion + "--dataset imagenet --set data.samples=1000 --format csv").output ==
        folder.run(kQuestion + "--set data.name=imagenet --set data.samples=1000 --format csv").output);
  CHECK(folder.run("foretrain compare --model resnet50 --cluster puhti --gpus 4 --dataset imagenet")
            .exit_code == 0);
}

TEST_CASE("a folder is looked at, and what follows is said to be an estimate") {
  const TemporaryFolder folder;
  folder.run(
      "mkdir pictures && for i in 1 2 3; do printf '\\377\\330\\377\\340' > pictures/$i.jpg; head -c 90000 "
      "/dev/zero >> "
      "pictures/$i.jpg; done");
  const ProgramRun run = folder.run(kQuestion + "--dataset pictures --format json 2>/dev/null");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  CHECK(json["points"][0]["steps_per_epoch"] == 1);
  const std::string warnings = json["warnings"].dump();
  CHECK_THAT(warnings, ContainsSubstring("data set: 3 JPEG files of 90 kB in the median") &&
                           ContainsSubstring("is an estimate") &&
                           ContainsSubstring("data.storage says otherwise"));
  CHECK_THAT(
      folder.run("foretrain compare --model resnet50 --cluster puhti --gpus 4 --dataset ./pictures").output,
      ContainsSubstring("warning: data set: 3 JPEG files"));
}

TEST_CASE("an unknown data set names the nearest one, and what cannot be used is a sentence") {
  const TemporaryFolder folder;
  const ProgramRun unknown = folder.run(kQuestion + "--dataset imagnet");
  CHECK(unknown.exit_code == 1);
  CHECK_THAT(unknown.output, ContainsSubstring("unknown data set \"imagnet\"") &&
                                 ContainsSubstring("did you mean \"imagenet\"?"));
  folder.run("mkdir empty");
  const ProgramRun empty = folder.run(kQuestion + "--dataset empty");
  CHECK(empty.exit_code == 1);
  CHECK_THAT(empty.output, ContainsSubstring("error: --dataset empty: no files are in it"));
  CHECK_THAT(folder.run(kQuestion + "--dataset no/such").output,
             ContainsSubstring("No such file or directory"));
}

}  // namespace data_set_option_test
