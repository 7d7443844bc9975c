// Inputs that nobody should give, and some will: refused with code 1, and nothing is written. What would take
// for ever ends at the test's time limit.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace hostile_input_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

/// Runs a command that must fail as wrong input and leave the folder as it was.
void refuse(const TemporaryFolder& folder, const std::string& line) {
  const std::size_t before = folder.entries();
  const ProgramRun run = folder.run(line);
  INFO(line << "\n" << run.output.substr(0, 2000));
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("error: "));
  CHECK(run.output.size() < 20'000);
  CHECK(folder.entries() == before);
}

void refuse_everywhere(const TemporaryFolder& folder, const std::string& file) {
  refuse(folder, "foretrain predict " + file + " -o out");
  refuse(folder, "foretrain predict --model " + file + " --cluster puhti -o out");
  refuse(folder, "foretrain predict --model resnet50 --cluster " + file + " -o out");
  refuse(folder, "foretrain topology check " + file);
  refuse(folder, "foretrain validate " + file + " -o out");
  refuse(folder, "foretrain validate " FORETRAIN_SOURCE_DIR "/docs/measured/puhti.csv --provenance " + file +
                     " -o out");
  refuse(folder, "foretrain collective --cluster " + file + " --op all_reduce --gpus 1 -o out");
  refuse(folder, "foretrain collective --cluster puhti --op all_reduce --gpus 1 --svg svg --measured " +
                     file + " -o out");
  refuse(folder,
         "foretrain collective --cluster puhti --op all_reduce --gpus 1 --transport ./" + file + " -o out");
}

}  // namespace

TEST_CASE("a missing file is refused") { refuse_everywhere(TemporaryFolder(), "./missing.toml"); }

TEST_CASE("an empty file is refused") {
  const TemporaryFolder folder;
  folder.write("empty.toml", "");
  refuse_everywhere(folder, "empty.toml");
}

TEST_CASE("a binary file is refused") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>((i * 131 + i / 7) & 0xFF);
  folder.write("binary.toml", bytes);
  refuse_everywhere(folder, "binary.toml");
}

TEST_CASE("a folder is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "folder.toml");
  refuse_everywhere(folder, "folder.toml");
}

TEST_CASE("a named pipe that nobody writes to is refused by every reader") {
  const TemporaryFolder folder;
  REQUIRE(folder.run("mkfifo pipe.toml").exit_code == 0);
  refuse_everywhere(folder, "pipe.toml");
  for (const std::string line :
       {"job show pipe.toml", "job settings pipe.toml", "explain pipe.toml", "model show ./pipe.toml",
        "model import pipe.toml", "trace show pipe.toml", "topology import pipe.toml",
        "calibrate fit pipe.toml --cluster puhti", "evidence add pipe.toml",
        "predict mahti-resnet50-ddp --settings pipe.toml", "predict mahti-resnet50-ddp --evidence pipe.toml",
        "sweep run pipe.toml --db db"})
    refuse(folder, "timeout 60 foretrain " + line);
}

TEST_CASE("a pipe that somebody writes to is read, with a name and without") {
  const TemporaryFolder folder;
  folder.write("asked.toml",
               "[model]\nname = \"mnist_net\"\nbatch_per_gpu = 8\n[cluster]\nname = \"puhti\"\n");
  const std::string expected = folder.run("foretrain predict asked.toml --gpus 1 --format csv").output;
  REQUIRE(folder.run("mkfifo pipe").exit_code == 0);
  // Behind the scenario's name, which is the file's.
  const auto row_of = [](const std::string& csv) {
    return csv.substr(std::min(csv.find(",mnist_net"), csv.size()));
  };
  REQUIRE(row_of(expected).size() > 100);
  const auto same = [&](const std::string& line) {
    const ProgramRun run = folder.run(line);
    INFO(line << "\n" << run.output);
    CHECK(run.exit_code == 0);
    CHECK(row_of(run.output) == row_of(expected));
  };
  same("(sleep 0.3; cat asked.toml) >pipe & foretrain predict ./pipe --gpus 1 --format csv");
  same("cat asked.toml | foretrain predict /dev/stdin --gpus 1 --format csv");
  if (folder.run("command -v bash").exit_code == 0)
    same("bash -c 'foretrain predict <(cat asked.toml) --gpus 1 --format csv'");
}

TEST_CASE("a file of 100 MB is refused before it is read") {
  const TemporaryFolder folder;
  folder.write("huge.toml", "a");
  std::filesystem::resize_file(folder.path() / "huge.toml", 100'000'000);
  refuse_everywhere(folder, "huge.toml");
}

TEST_CASE("numbers beyond every machine are refused") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"--gpus 1000000000", "--gpus 0", "--gpus -1", "--gpus 99999999999999999999", "--gpus 1,x",
        "--batch -1", "--batch 1000000000000", "--set strategy.accumulation=1000000000",
        "--set data.decode=1e30s", "--set strategy.bucket_cap=-1MiB", "--set data.workers_per_gpu=1000000000",
        "--set data.sample_bytes=900000TB --batch 1000000", "--set run.epochs=nan",
        "--set loop.overhead=1000000s"}) {
    refuse(folder,
           std::string("foretrain predict --model mnist_net --cluster star-1gpu ") + arguments + " -o out");
  }
}

TEST_CASE("collectives beyond every machine are refused") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"--gpus 2147483647", "--gpus -2147483648", "--gpus 8 --nodes 2147483647", "--gpus 4 --sizes 1:1P",
        "--gpus 4 --sizes 0:1G:+1", "--gpus 4 --sizes 1:1G:1.00000000001", "--gpus 4 --sizes 1e400",
        "--gpus 4 --set nccl.buffer=-1B", "--gpus 4 --set nccl.min_channels=9223372036854775808"}) {
    refuse(folder,
           std::string("foretrain collective --cluster puhti --op all_reduce ") + arguments + " -o out");
  }
}

TEST_CASE("settings that are none are refused") {
  const TemporaryFolder folder;
  for (const char* setting : {"''", "=", "key", "=1", "'a=b=c'", "'run.gpus=[[[[['", "'.=1'"}) {
    refuse(folder,
           std::string("foretrain predict --model mnist_net --cluster star-1gpu --gpus 1 -o out --set ") +
               setting);
  }
}

TEST_CASE("options that cut a huge network into pieces without end are refused") {
  const TemporaryFolder folder;
  folder.write(
      "wide.toml",
      "input = [1_000_000]\nlayers = [{ type = \"linear\", out = 1_000_000 }, { type = \"loss\" }]\n");
  const std::string predict =
      "foretrain predict --model ./wide.toml --cluster puhti --gpus 8 -o out --strategy ";
  refuse(folder, predict + "byteps --set strategy.partition_bytes=1024B");
  refuse(folder, predict + "zero1 --set strategy.allgather_bucket_size=1 --set framework.version=1.9");
  refuse(folder, predict + "ddp --set strategy.compression=powersgd --set strategy.powersgd_rank=1024");
}

TEST_CASE("nesting without end is refused") {
  const TemporaryFolder folder;
  std::string deep = "a = ";
  deep.append(100'000, '[');
  folder.write("deep.toml", deep);
  refuse(folder, "foretrain predict deep.toml -o out");
}

TEST_CASE("a file of mistakes only is reported within bounds") {
  const TemporaryFolder folder;
  std::string wrong;
  for (int i = 0; i < 20'000; ++i) wrong += "key" + std::to_string(i) + " = 1\n";
  folder.write("wrong.toml", wrong);
  refuse(folder, "foretrain predict wrong.toml -o out");
}

TEST_CASE("numbers nobody means are refused, and no total is a limit of the machine") {
  const TemporaryFolder folder;
  const std::string predict = "foretrain predict puhti-resnet50-ddp --gpus 8 -o out ";
  refuse(folder, predict + "--set 'run.every.checkpoint.bandwidth=\"1e-320 GBps\"'");
  refuse(folder, predict + "--set 'run.every.checkpoint.bandwidth=\"1 Bps\"' --set run.epochs=1000000");
  refuse(folder, predict + "--set run.epochs=1000000 --set data.samples=1000000000000");
  refuse(
      folder,
      predict + "--set 'data.decode=\"11 d\"' --set data.workers_per_gpu=200 --set data.cores_per_gpu=200");
  refuse(folder, predict + "--recommend --deadline 1e-320s");
  refuse(folder, predict + "--recommend --queue-wait 1e300h");
  folder.write(
      "tiny.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "a,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,1e-320,,x\n");
  refuse(folder, "foretrain validate tiny.csv -o out");
}

}  // namespace hostile_input_test
