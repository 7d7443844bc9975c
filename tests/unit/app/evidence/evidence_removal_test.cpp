// `foretrain evidence remove` takes out what is named and nothing else, says what that was, and can be
// undone.
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace evidence_removal_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

/// A store with the series run1, run2 (two GPUs, too), run10 and run20.
struct Store : TemporaryFolder {
  Store() {
    write("runs.csv",
          "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
          "run1,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,240,,me\n"
          "run2,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,241,,me\n"
          "run2,resnet50,puhti,ddp,fp32,32,2,1,samples_per_s,470,,me\n"
          "run10,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,242,,me\n"
          "run20,resnet50,mahti,ddp,fp32,32,1,1,samples_per_s,243,,me\n");
    succeed("add runs.csv");
  }
  ProgramRun evidence(const std::string& arguments) const {
    return run("foretrain evidence " + arguments + " --store own.csv");
  }
  std::string succeed(const std::string& arguments) const {
    const ProgramRun done = evidence(arguments);
    INFO(arguments << "\n" << done.output);
    REQUIRE(done.exit_code == 0);
    return done.output;
  }
  bool has(const std::string& run) const {
    return read("own.csv").find("own," + run + ",") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("a series that is removed goes by its whole name, and others whose names begin with it stay") {
  const Store store;
  const std::string said = store.succeed("remove run1");
  CHECK_THAT(said, ContainsSubstring("1 row removed from own.csv:\n  run1: 1 step\n"));
  CHECK_THAT(said, ContainsSubstring("`foretrain evidence undo --store own.csv` puts them back."));
  CHECK_FALSE(store.has("run1"));
  for (const char* other : {"run2", "run10", "run20"}) CHECK(store.has(other));
  CHECK_THAT(store.succeed("remove run2 run20"), ContainsSubstring("3 rows removed"));
  CHECK(store.has("run10"));
  // What no row comes from any more goes, too.
  CHECK(store.read("own.csv").find("\"run2\"") == std::string::npos);
}

TEST_CASE("nothing is removed when one of the names is unknown, and near ones are told") {
  const Store store;
  const std::string before = store.read("own.csv");
  for (const char* arguments :
       {"remove rum1", "remove run1 rum1", "remove r", "remove all", "remove puhti"}) {
    const ProgramRun done = store.evidence(arguments);
    INFO(arguments << done.output);
    CHECK(done.exit_code == 1);
    CHECK_THAT(done.output, ContainsSubstring("no series of own.csv is called "));
    CHECK(store.read("own.csv") == before);
  }
  CHECK_THAT(store.evidence("remove rum1").output, ContainsSubstring("did you mean"));
  CHECK(store.evidence("remove --matching nothing-like-it").exit_code == 1);
  CHECK(store.evidence("remove").exit_code == 2);
  CHECK(store.evidence("remove run1 --all").exit_code == 2);
  CHECK(store.read("own.csv") == before);
  CHECK_FALSE(std::filesystem::exists(store.path() / "own.csv.removed"));
}

TEST_CASE("a text in names, and every row, have options of their own") {
  const Store store;
  CHECK_THAT(store.succeed("remove --matching run1 --dry-run"), ContainsSubstring("2 rows would be removed"));
  CHECK(store.has("run10"));
  CHECK_THAT(store.succeed("remove --matching run1"), ContainsSubstring("2 rows removed"));
  CHECK_THAT(store.succeed("remove --matching mahti"), ContainsSubstring("  run20: 1 step\n"));
  CHECK_THAT(store.succeed("remove --all"), ContainsSubstring("  run2: 1 step, 1 ratio\n"));
  CHECK_THAT(store.succeed("list"), ContainsSubstring("0 rows"));
}

TEST_CASE("removals are undone one by one, the last one first") {
  const Store store;
  const std::string all = store.succeed("list");
  const std::string predicted =
      store.run("foretrain predict --model resnet50 --cluster puhti --gpus 1,2 --evidence own.csv").output;
  store.succeed("remove run1");
  store.succeed("remove --matching puhti");
  store.succeed("remove run20");
  CHECK_THAT(store.succeed("undo"), ContainsSubstring("1 row put back into own.csv:\n  run20: 1 step\n"));
  CHECK_FALSE(store.has("run2"));
  CHECK_THAT(store.succeed("undo"), ContainsSubstring("3 rows put back"));
  CHECK_FALSE(store.has("run1"));
  store.succeed("undo");
  CHECK(store.succeed("list") == all);
  CHECK(
      store.run("foretrain predict --model resnet50 --cluster puhti --gpus 1,2 --evidence own.csv").output ==
      predicted);
  const ProgramRun none = store.evidence("undo");
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, ContainsSubstring("nothing was removed from own.csv"));
  CHECK_FALSE(std::filesystem::exists(store.path() / "own.csv.removed"));
}

}  // namespace evidence_removal_test
