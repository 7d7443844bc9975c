// Evidence outlives the version that predicted it: rows of another version are predicted again from what
// their store keeps, once.
#include <filesystem>
#include <regex>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace evidence_versions_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

/// A folder with a cache of its own.
struct Updated : TemporaryFolder {
  ProgramRun in(const std::string& command) const {
    return run("export XDG_CACHE_HOME=$PWD/cache; " + command);
  }
  std::string succeed(const std::string& command) const {
    const ProgramRun done = in(command);
    INFO(command << "\n" << done.output);
    REQUIRE(done.exit_code == 0);
    return done.output;
  }
  /// As version 0.0.1 left it, which predicted so many seconds for everything.
  void make_stale(const std::string& from, const std::string& to,
                  const std::string& seconds = "0.0512") const {
    std::string out;
    std::istringstream lines(read(from));
    for (std::string line; std::getline(lines, line);) {
      static const std::regex row("^(.*,[^,]*),([^,]*),[^,]*$");
      const bool is_row = !line.starts_with("#") && !line.starts_with("what,");
      out += (is_row ? std::regex_replace(line, row, "$1," + seconds + ",0.0.1") : line) + "\n";
    }
    write(to, out);
  }
  std::size_t cached() const {
    return fs::exists(path() / "cache") ? static_cast<std::size_t>(std::distance(
                                              fs::directory_iterator(path() / "cache/foretrain"), {}))
                                        : 0;
  }
};

constexpr const char* kRuns =
    "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
    "monday,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,240,,me\n"
    "monday,resnet50,puhti,ddp,fp32,32,4,1,samples_per_s,910,,me\n"
    "\"a, \"\"b\"\" "
    "\\\",resnet50,puhti,ddp,fp32,64,1,1,step_s,0.25,data.workers_per_gpu=4;strategy.bucket_cap=10 "
    "MiB,me\n"
    "large,resnet50,puhti,ddp,fp32,32,8,2,samples_per_s,1700,,me\n";

constexpr const char* kPredict =
    "foretrain predict --model resnet50 --cluster puhti --gpus 1,4 --explain --evidence ";

}  // namespace

TEST_CASE("rows of another version are predicted again, and are as those that this version predicted") {
  const Updated folder;
  folder.write("runs.csv", kRuns);
  folder.succeed("foretrain evidence add runs.csv --store own.csv");
  folder.make_stale("own.csv", "stale.csv");
  const std::string stale = folder.read("stale.csv");
  CHECK_THAT(stale, ContainsSubstring(",0.0512,0.0.1\n"));
  const std::string fresh = folder.succeed(std::string(kPredict) + "own.csv");
  CHECK_THAT(fresh, ContainsSubstring("\nMeasured      on puhti: 133 ms on 1 GPU"));
  CHECK(folder.succeed(std::string(kPredict) + "stale.csv") == fresh);
  for (const char* question : {"list", "show monday", "show large", "score"})
    CHECK(folder.succeed("foretrain evidence " + std::string(question) + " --store stale.csv") ==
          folder.succeed("foretrain evidence " + std::string(question) + " --store own.csv"));
  CHECK(folder.read("stale.csv") == stale);
}

TEST_CASE(
    "they are predicted once for a version, also when rows are added later, and not where evidence is off") {
  const Updated folder;
  folder.write("runs.csv", kRuns);
  folder.succeed("foretrain evidence add runs.csv --store own.csv");
  folder.make_stale("own.csv", "stale.csv");
  folder.succeed(std::string(kPredict) + "off");
  CHECK(folder.cached() == 0);
  const std::string first = folder.succeed(std::string(kPredict) + "stale.csv");
  REQUIRE(folder.cached() == 1);
  const std::string file =
      fs::directory_iterator(folder.path() / "cache/foretrain")->path().filename().string();
  CHECK_THAT(file, ContainsSubstring(FORETRAIN_VERSION));
  // What is read is the cache: with other figures in it the answer is another one.
  const std::string cache = folder.read("cache/foretrain/" + file);
  folder.write(
      "cache/foretrain/" + file,
      std::regex_replace(cache, std::regex("(step,own,monday,.*),([^,]*),([^,]*,[^,]*\n)"), "$1,0.2,$3"));
  CHECK(folder.succeed(std::string(kPredict) + "stale.csv") != first);
  folder.write("cache/foretrain/" + file, "damaged");
  CHECK(folder.succeed(std::string(kPredict) + "stale.csv") == first);
  CHECK(folder.read("cache/foretrain/" + file) == cache);
  folder.write(
      "more.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "tuesday,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,250,,me\n");
  folder.succeed("foretrain evidence add more.csv --store stale.csv");
  CHECK_THAT(folder.succeed("foretrain evidence list --store stale.csv"), ContainsSubstring("5 rows"));
  CHECK(folder.cached() == 1);
}

TEST_CASE("without a place for a cache they are predicted each time") {
  const Updated folder;
  folder.write("runs.csv", kRuns);
  folder.succeed("foretrain evidence add runs.csv --store own.csv");
  folder.make_stale("own.csv", "stale.csv");
  const std::string fresh = folder.succeed(std::string(kPredict) + "own.csv");
  folder.write("cache", "a file");
  CHECK(folder.succeed(std::string(kPredict) + "stale.csv") == fresh);
  CHECK(folder.succeed("unset XDG_CACHE_HOME HOME; " + std::string(kPredict) + "stale.csv") == fresh);
}

TEST_CASE("a run that this version cannot predict is named, and the others are there") {
  const Updated folder;
  folder.write("runs.csv", kRuns);
  folder.succeed("foretrain evidence add runs.csv --store own.csv");
  folder.make_stale("own.csv", "stale.csv");
  std::string stale = folder.read("stale.csv");
  const std::string input = "\"large\",\"resnet50\",\"puhti\"";
  REQUIRE(stale.find(input) != std::string::npos);
  stale.replace(stale.find(input), input.size(), "\"large\",\"resnet50\",\"sold\"");
  folder.write("stale.csv", stale);
  for (int i = 0; i < 2; ++i) {
    const std::string said = folder.succeed("foretrain evidence list --store stale.csv");
    CHECK_THAT(said, ContainsSubstring("1 row that another version predicted, left out"));
    CHECK_THAT(said, ContainsSubstring("\n3 rows"));
  }
}

TEST_CASE("one's own calls of collectives are predicted again, too") {
  const Updated folder;
  folder.write(
      "calls.csv",
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\nmine,puhti,all_reduce,4,1,67108864,900,,"
      "me\nmine,puhti,all_reduce,4,1,33554432,470,nccl.protocol=LL128,me\n");
  folder.succeed("foretrain evidence add calls.csv --store own.csv");
  folder.make_stale("own.csv", "stale.csv", "0.0005");
  CHECK(folder.succeed("foretrain evidence show mine --store stale.csv") ==
        folder.succeed("foretrain evidence show mine --store own.csv"));
  const std::string ask =
      "foretrain collective --cluster puhti --op all_reduce --gpus 4 --sizes 64M --evidence ";
  CHECK(folder.succeed(ask + "stale.csv") == folder.succeed(ask + "own.csv"));
}

TEST_CASE("a finished job is predicted again from its scenario, in which nothing tells who ran it") {
  const Updated folder;
  folder.write("job.sbatch",
               "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --account=secret_account\n#SBATCH "
               "--gres=gpu:v100:2\n#SBATCH --time=1:00:00\nsrun torchrun --nproc_per_node 2 train.py "
               "--arch resnet50 --batch-size 32 --epochs 1\n");
  folder.write(
      "sacct.txt",
      "JobID|State|ElapsedRaw|NNodes|AllocTRES\n17|COMPLETED|3000|1|billing=2,cpu=20,gres/gpu:v100=2,gres/"
      "gpu=2,mem=128G,node=1\n");
  const std::string said = folder.succeed(
      "foretrain explain job.sbatch sacct.txt --cluster puhti --set data.samples=1281167 --add --store "
      "own.csv");
  INFO(said);
  REQUIRE_THAT(said, ContainsSubstring("Kept in own.csv"));
  const std::string own = folder.read("own.csv");
  CHECK(own.find("secret_account") == std::string::npos);
  CHECK(own.find(folder.path().string()) == std::string::npos);
  folder.make_stale("own.csv", "stale.csv");
  CHECK(folder.succeed("foretrain evidence show 17 --store stale.csv") ==
        folder.succeed("foretrain evidence show 17 --store own.csv"));
  CHECK_THAT(folder.succeed("foretrain evidence list --store stale.csv"), ContainsSubstring("1 row"));
}

}  // namespace evidence_versions_test
