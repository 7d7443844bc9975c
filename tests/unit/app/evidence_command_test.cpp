// `foretrain evidence`, as typed, and what predictions make of it.
#include <filesystem>

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
    "foretrain predict --model resnet50 --cluster puhti --gpus 1,4 --details --evidence own.csv";

}  // namespace

TEST_CASE("own runs of the very training calibrate its prediction, which says so, and off is as simulated") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240) + measured("tuesday", 244));
  const ProgramRun added = folder.run("foretrain evidence add runs.csv --store own.csv");
  INFO(added.output);
  CHECK(added.exit_code == 0);
  CHECK_THAT(added.output, ContainsSubstring("2 rows in own.csv"));
  const ProgramRun with = folder.run(std::string(kPredict) + " --explain");
  INFO(with.output);
  CHECK_THAT(with.output, ContainsSubstring("Measured on puhti: 131 to 133 ms on 1 GPU (2 runs, your own); "
                                            "the prediction is calibrated to it.\n"));
  CHECK(with.output.find("Corrected") == std::string::npos);
  CHECK_THAT(with.output, ContainsSubstring("Evidence on the step of one GPU"));
  const ProgramRun off =
      folder.run("foretrain predict --model resnet50 --cluster puhti --gpus 1,4 --evidence off");
  CHECK(off.output.find("Measured on") == std::string::npos);
}

TEST_CASE("own rows of another batch correct the next prediction, which says so") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240) + measured("tuesday", 244));
  folder.run("foretrain evidence add runs.csv --store own.csv");
  const ProgramRun with = folder.run(std::string(kPredict) + " --batch 64");
  INFO(with.output);
  CHECK_THAT(with.output, ContainsSubstring("Corrected by +"));
  CHECK_THAT(with.output, ContainsSubstring("from 2 measurements, nearest: resnet50 fp32 batch 32"));
}

TEST_CASE("shipped runs of ResNet-50 on Puhti calibrate its prediction to within what was measured") {
  const TemporaryFolder folder;
  const std::string command = "foretrain predict --details --model resnet50 --cluster puhti --gpus 1,4";
  const ProgramRun with = folder.run(command), off = folder.run(command + " --evidence off");
  INFO(with.output);
  CHECK_THAT(with.output, ContainsSubstring("Measured on puhti: 96 to 101 ms on 1 GPU (16 runs, "
                                            "mvsjober/ml-benchmarks), 102 to 105 ms on 4 GPUs (16 runs); the "
                                            "prediction is calibrated to them.\n"));
  CHECK(off.output.find("Measured on") == std::string::npos);
  CHECK_THAT(off.output, ContainsSubstring("78.8 ms .. 151 ms"));
  CHECK(with.output.find("78.8 ms .. 151 ms") == std::string::npos);
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
  CHECK_THAT(site.output, ContainsSubstring("evidence left out: "));
  const ProgramRun named =
      folder.run("foretrain predict --model mnist_net --cluster puhti --gpus 1 --evidence broken.csv");
  CHECK(named.exit_code == 1);
}

TEST_CASE("several writers of one store wait for each other, and every row is there") {
  const TemporaryFolder folder;
  std::string all;
  for (const char* name : {"a", "b", "c"}) {
    folder.write(name + std::string(".csv"), kHeader + measured(name, 240));
    all += "foretrain evidence add " + std::string(name) + ".csv --store own.csv & ";
  }
  const ProgramRun run = folder.run(all + "wait");
  INFO(run.output);
  CHECK_THAT(folder.run("foretrain evidence list --store own.csv").output, ContainsSubstring("3 rows"));
}

TEST_CASE("a half-written store keeps its whole rows and says so, and one too large is left out unread") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240) + measured("tuesday", 244));
  folder.run("foretrain evidence add runs.csv --store own.csv");
  const std::string whole = folder.read("own.csv");
  folder.write("own.csv", whole.substr(0, whole.size() - 20));
  const ProgramRun torn = folder.run(kPredict);
  CHECK(torn.exit_code == 0);
  CHECK_THAT(torn.output, ContainsSubstring("its last row is incomplete and left out"));
  CHECK_THAT(torn.output, ContainsSubstring("(1 run, your own)"));
  folder.write("large.csv", "#");
  std::filesystem::resize_file(folder.path() / "large.csv", 2'000'000'000);  // a hole: ten million rows
  const ProgramRun large =
      folder.run("FORETRAIN_EVIDENCE=large.csv foretrain predict --model mnist_net --cluster puhti --gpus 1");
  INFO(large.output);
  CHECK(large.exit_code == 0);
  CHECK_THAT(large.output, ContainsSubstring("evidence left out: "));
  CHECK_THAT(large.output, ContainsSubstring("is larger than"));
}

TEST_CASE("rows of another version without inputs are left out with a word, and nothing of them is lost") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240));
  folder.run("foretrain evidence add runs.csv --store own.csv");
  std::string old = folder.read("own.csv");
  old.replace(old.rfind(',') + 1, std::string::npos, "0.0.1\n");
  const std::size_t input = old.find("# training");
  REQUIRE(input != std::string::npos);
  old.erase(input, old.find('\n', input) + 1 - input);
  folder.write("own.csv", old);
  const ProgramRun run = folder.run(kPredict);
  CHECK_THAT(run.output, ContainsSubstring("1 row that another version predicted"));
  CHECK(run.output.find("Corrected") == std::string::npos);
  CHECK(folder.read("own.csv") == old);
}

TEST_CASE("names of rows do nothing to a terminal, whatever they are") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("\"a\x1b[31m,\"\"b\"", 240));
  CHECK(folder.run("foretrain evidence add runs.csv --store own.csv").exit_code == 0);
  for (const char* command : {"list", "show a", "report --cluster puhti", "score", "learn --cluster puhti"}) {
    const ProgramRun run = folder.run("foretrain evidence " + std::string(command) + " --store own.csv");
    INFO(command << run.output);
    CHECK(run.exit_code == 0);
    CHECK(run.output.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("one's own calls correct a collective's curve, and those that are drawn over it do not") {
  const TemporaryFolder folder;
  std::string calls = "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n";
  for (const char* call : {"67108864,900", "33554432,470", "16777216,250", "8388608,140"})
    calls += "mine,puhti,all_reduce,4,1," + std::string(call) + ",,me\n";
  folder.write("calls.csv", calls);
  CHECK(folder.run("foretrain evidence add calls.csv --store own.csv").exit_code == 0);
  const std::string ask =
      "foretrain collective --cluster puhti --op all_reduce --gpus 4 --sizes 64M --evidence own.csv";
  CHECK_THAT(folder.run(ask).output, ContainsSubstring("# Corrected by "));
  CHECK_THAT(folder.run(ask + " --explain").output, ContainsSubstring("# Evidence on the largest size: "));
  CHECK_THAT(folder.run(ask + " --format csv").output, ContainsSubstring(",raw_time_us\n"));
  CHECK_THAT(folder.run(ask + " --format json").output, ContainsSubstring("\"raw_time_s\""));
  CHECK(folder.run(ask + " --svg c.svg --measured calls.csv").output.find("Corrected") == std::string::npos);
  CHECK(folder.run("foretrain collective --cluster puhti --op all_reduce --gpus 4 --sizes 64M --evidence off")
            .output.find("Corrected") == std::string::npos);
}

TEST_CASE("a user's first jobs are a table and a picture") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240) + measured("tuesday", 244));
  folder.run("foretrain evidence add runs.csv --store own.csv");
  const ProgramRun run =
      folder.run("foretrain evidence learn --cluster puhti --store own.csv --svg jobs.svg");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(folder.read("jobs.svg"), ContainsSubstring("</svg>"));
  const ProgramRun none = folder.run("foretrain evidence learn --cluster mahti --store own.csv");
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, ContainsSubstring("no run of one GPU of mahti"));
}

TEST_CASE("jobs of many GPUs without a run of one are evidence, too, of one's own rows") {
  const TemporaryFolder folder;
  folder.write("runs.csv",
               std::string(kHeader) + "big,resnet50,puhti,ddp,fp32,32,4,1,samples_per_s,900,,me\n");
  CHECK_THAT(folder.run("foretrain evidence add runs.csv --store own.csv").output,
             ContainsSubstring("1 row in"));
  CHECK_THAT(folder.read("own.csv"), ContainsSubstring("\njob,own,big,resnet50,"));
  CHECK_THAT(folder.run(kPredict).output, ContainsSubstring("Measured on puhti: 142 ms on 4 GPUs (1 run"));
}

TEST_CASE("a file that is no store is refused before anything appears beside it") {
  const TemporaryFolder folder;
  folder.write("runs.csv", kHeader + measured("monday", 240));
  folder.write("other.toml", "[model]\nname = \"resnet50\"\n");
  for (const char* command :
       {"evidence remove monday --store other.toml", "evidence add runs.csv --store other.toml"}) {
    const ProgramRun run = folder.run(std::string("foretrain ") + command);
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring("other.toml:1:1: error: is no evidence store"));
    CHECK(folder.entries() == 2);
  }
  CHECK(folder.run("foretrain evidence remove monday --store missing.csv").exit_code == 1);
  CHECK(folder.entries() == 2);
}

}  // namespace evidence_command_test
