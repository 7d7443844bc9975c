// `foretrain measured add`: a value as typed, and what the next prediction makes of it.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace measured_add_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kTraining = " --model resnet50 --cluster puhti ";

ProgramRun added(const TemporaryFolder& folder, const std::string& value, const std::string& more) {
  return folder.run("foretrain measured add " + value + kTraining + more + " --store own.csv");
}

}  // namespace

TEST_CASE("a rate and a time are runs of the training, and the next prediction is calibrated to them") {
  const TemporaryFolder folder;
  const ProgramRun rate = added(folder, "320/s", "--gpus 1"), time = added(folder, "98ms", "--gpus 1");
  INFO(rate.output << time.output);
  CHECK(rate.exit_code == 0);
  CHECK_THAT(rate.output, ContainsSubstring("Kept in own.csv: resnet50 batch 32 on 1 GPU of puhti, 100 ms a "
                                            "step where 99.3 ms are predicted."));
  CHECK(time.exit_code == 0);
  CHECK_THAT(
      folder.run("foretrain predict --details" + std::string(kTraining) + "--gpus 1 --evidence own.csv")
          .output,
      ContainsSubstring("Measured on puhti: 98 to 100 ms on 1 GPU (2 runs, your own); the prediction "
                        "is calibrated to it."));
}

TEST_CASE("a value of several GPUs is over all of them, and a scenario says what trained") {
  const TemporaryFolder folder;
  folder.write("train.toml",
               "[model]\nname = \"resnet50\"\nbatch_per_gpu = 32\n[cluster]\nname = \"puhti\"\n"
               "[strategy]\nname = \"ddp\"\n[run]\ngpus = [1, 4]\n");
  const ProgramRun run = folder.run("foretrain measured add 1280/s train.toml --gpus 4 --store own.csv");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("on 4 GPUs of puhti, 100 ms a step"));
  CHECK_THAT(folder.run("foretrain predict --details train.toml --evidence own.csv").output,
             ContainsSubstring("Measured on puhti: 100 ms on 4 GPUs (1 run, your own)"));
}

TEST_CASE("a pasted line and a log are runs, and the median of a log's rates counts") {
  const TemporaryFolder folder;
  const ProgramRun line = added(folder, "'| 20/195 [00:02<00:20, 10it/s, loss=2.3]'", "--gpus 1");
  INFO(line.output);
  CHECK(line.exit_code == 0);
  CHECK_THAT(line.output, ContainsSubstring("100 ms a step where 99.3 ms are predicted"));
  folder.write(
      "train.log",
      "hello\nEpoch 1: 5it/s\nEpoch 1: 10it/s\nEpoch 1: 10it/s\nEpoch 1: 9.9it/s\nEpoch 1: 11it/s\n");
  const ProgramRun log = added(folder, "train.log", "--gpus 1");
  INFO(log.output);
  CHECK(log.exit_code == 0);
  CHECK_THAT(log.output, ContainsSubstring("note: train.log: 5 rates, 10 steps/s") &&
                             ContainsSubstring("100 ms a step where 99.3 ms are predicted"));
  folder.write("per_gpu.log", "img/sec per GPU: 80\n");
  CHECK_THAT(added(folder, "per_gpu.log", "--gpus 4").output,
             ContainsSubstring("on 4 GPUs of puhti, 400 ms a step"));
}

TEST_CASE("a log without a rate, of another number of GPUs, or in tokens is refused in words") {
  const TemporaryFolder folder;
  folder.write("none.log", "loss 2.3\n");
  folder.write("four.log", "Number of GPUs: 4\n10it/s\n");
  folder.write("tokens.log", "step 1\nstep 2 51200 tokens/s\n");
  const auto refused = [&](const std::string& file, const std::string& reason) {
    const ProgramRun run = added(folder, file, "--gpus 1");
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(reason));
  };
  refused("none.log", "none.log: error: no line of it has a rate");
  refused("four.log", "its text says 4 GPUs, and --gpus says 1");
  refused("tokens.log", "tokens.log:2:1: error: tokens for each second");
  const ProgramRun sized = folder.run(
      "foretrain measured add tokens.log --model gpt2 --cluster mahti --gpus 1 --batch 8 --sequence "
      "1024 "
      "--store own.csv");
  INFO(sized.output);
  CHECK(sized.exit_code == 0);
  CHECK_THAT(sized.output, ContainsSubstring("160 ms a step"));
}

TEST_CASE("another version of the program predicts added values again") {
  const TemporaryFolder folder;
  added(folder, "98ms", "--gpus 1");
  std::string stale = folder.read("own.csv");
  const std::size_t end = stale.rfind(',');
  stale = stale.substr(0, stale.rfind(',', end - 1)) + ",0.05,0.0.1\n";
  folder.write("stale.csv", stale);
  const std::string list = "export XDG_CACHE_HOME=$PWD/cache; foretrain evidence show resnet50 --store ";
  CHECK(folder.run(list + "stale.csv").output == folder.run(list + "own.csv").output);
}

TEST_CASE("a step of half or twice the predicted length is kept with the question whose it is") {
  const TemporaryFolder folder;
  const std::string other = added(folder, "40ms", "--gpus 1").output;
  CHECK_THAT(other, ContainsSubstring("Warning: The measured step is 2.5 times shorter than predicted.") &&
                        ContainsSubstring("Was it measured on v100-sxm2-32gb GPUs of puhti, with fp32 and "
                                          "batch 32?"));
  CHECK_THAT(added(folder, "250ms", "--gpus 1").output, ContainsSubstring("2.5 times longer"));
  CHECK_THAT(added(folder, "120ms", "--gpus 1").output, !ContainsSubstring("Warning"));
}

TEST_CASE("values that are none, without a number of GPUs, or off by a unit are refused") {
  const TemporaryFolder folder;
  for (const char* value : {"326", "fast", "0/s", "x/s", "98", "98mm"}) {
    INFO(value);
    CHECK(added(folder, value, "--gpus 1").exit_code == 1);
  }
  CHECK(added(folder, "326/s", "--gpus 1,4").exit_code == 1);
  CHECK(added(folder, "326/s", "").exit_code == 2);
  const ProgramRun unit = added(folder, "98us", "--gpus 1");
  CHECK(unit.exit_code == 1);
  CHECK_THAT(unit.output, ContainsSubstring("a step of 98 us was measured, expected are about 99.3 ms"));
  CHECK(folder.read("own.csv").empty());
}

}  // namespace measured_add_test
