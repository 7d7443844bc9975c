// `foretrain evidence`, as typed, and what predictions make of it.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace evidence_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kHeader =
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n";

/// A run of resnet50 on Puhti at so many images per second.
std::string measured(const std::string& series, double samples_per_s) {
  return series + ",resnet50,puhti,ddp,fp32,32,1,1,samples_per_s," + std::to_string(samples_per_s) +
         ",,mine\n";
}

constexpr const char* kPredict =
    "foretrain predict --model resnet50 --cluster puhti --gpus 1,4 --evidence own.csv";

}  // namespace

TEST_CASE("own rows correct the next prediction, which says so, and off is as simulated") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240) + measured("tuesday", 244));
  const ProgramRun added = folder.run("foretrain evidence add runs.csv --store own.csv");
  INFO(added.output);
  CHECK(added.exit_code == 0);
  CHECK_THAT(added.output, ContainsSubstring("2 rows in own.csv"));
  const ProgramRun with = folder.run(std::string(kPredict) + " --explain");
  INFO(with.output);
  CHECK_THAT(with.output, ContainsSubstring("Corrected by +"));
  CHECK_THAT(with.output, ContainsSubstring("from 2 measurements, nearest: resnet50 fp32 batch 32"));
  CHECK_THAT(with.output, ContainsSubstring("Evidence on the step of one GPU"));
  const ProgramRun off =
      folder.run("foretrain predict --model resnet50 --cluster puhti --gpus 1,4 --evidence off");
  CHECK(off.output.find("Corrected") == std::string::npos);
}

TEST_CASE("rows that are added again are there once, and remove and export do what they say") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240));
  folder.run("foretrain evidence add runs.csv --store own.csv");
  const std::string once = folder.read("own.csv");
  folder.run("foretrain evidence add runs.csv --store own.csv");
  CHECK(folder.read("own.csv") == once);
  const ProgramRun exported = folder.run("foretrain evidence export --store own.csv --source lab");
  CHECK_THAT(exported.output, ContainsSubstring("step,lab,monday,resnet50"));
  CHECK_THAT(folder.run("foretrain evidence list --store own.csv").output, ContainsSubstring("own\n1 row"));
  CHECK_THAT(folder.run("foretrain evidence remove monday --store own.csv").output,
             ContainsSubstring("1 row removed"));
  CHECK_THAT(folder.run("foretrain evidence list --store own.csv").output, ContainsSubstring("0 rows"));
}

TEST_CASE("a row off by a thousand is refused with what was expected, and nothing is kept") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("good", 240) + measured("bad", 0.24));
  const ProgramRun run = folder.run("foretrain evidence add runs.csv --store own.csv");
  INFO(run.output);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("line 3: measured 0.24, expected about"));
  CHECK(folder.read("own.csv").empty());
}

TEST_CASE("a broken store of one's own is a warning beside the prediction, a broken one by name a mistake") {
  const TemporaryFolder folder;
  folder.write("broken.csv", "# foretrain evidence 9\n");
  const ProgramRun site = folder.run(
      "FORETRAIN_EVIDENCE=broken.csv foretrain predict --model mnist_net --cluster puhti --gpus 1");
  INFO(site.output);
  CHECK(site.exit_code == 0);
  CHECK_THAT(site.output, ContainsSubstring("warning: evidence left out: "));
  const ProgramRun named =
      folder.run("foretrain predict --model mnist_net --cluster puhti --gpus 1 --evidence broken.csv");
  CHECK(named.exit_code == 1);
}

}  // namespace evidence_command_test
