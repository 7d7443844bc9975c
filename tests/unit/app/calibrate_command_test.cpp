// `foretrain calibrate`, as typed: from logs to a calibration, to a cluster that names it, to its
// predictions.
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace calibrate_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kHeader = "kind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source\n";

/// All-reduces of 8 GPUs on two nodes: 100 us and 2 GB/s, far slower than the catalog's Puhti.
std::string slow_all_reduces(const std::string& before = "") {
  std::string text = before + kHeader;
  for (long bytes = 1024; bytes <= 1L << 30; bytes *= 4)
    text += fmt::format("collective,all_reduce,8,2,{},{:.3f},us,0.02,5,,\n", bytes,
                        100 + static_cast<double>(bytes) / 2e3);
  return text;
}

/// What nccl-tests prints of an operation without a reduction, on 8 GPUs; the file's name says nothing of it.
std::string gathers(const std::string& before = "") {
  std::string table = before +
                      "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 16777216 step: 4(factor) warmup iters: "
                      "5 iters: 20 validation: 0\n#\n"
                      "#       size         count      type   redop    root     time   algbw   busbw #wrong  "
                      "   time   algbw   busbw #wrong\n"
                      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)         "
                      "   (us)  (GB/s)  (GB/s)\n";
  for (const long bytes : {1048576L, 4194304L, 16777216L}) {
    const double us = 100 + static_cast<double>(bytes) / 1e4, rate = static_cast<double>(bytes) / us / 1e3;
    table += fmt::format(
        "{:>12}{:>14}     float    none      -1 {:>8.1f}{:>8.2f}{:>8.2f}    N/A {:>8.1f}{:>8.2f}{:>8.2f}    "
        "N/A\n",
        bytes, bytes / 32, us, rate, rate * 7 / 8, us, rate, rate * 7 / 8);
  }
  return table;
}

/// Puhti's description, with that line before its first table.
void write_puhti(const TemporaryFolder& folder, const std::string& name, const std::string& line) {
  std::ifstream original(std::string(FORETRAIN_SOURCE_DIR) + "/topologies/puhti.toml");
  std::stringstream text;
  text << original.rdbuf();
  folder.write(name, line + text.str());
}

struct Interval {
  double median = 0, width = 0;  ///< of the step, and of the speedup: upper over lower end
};

Interval step_of(const TemporaryFolder& folder, const std::string& cluster, int gpus) {
  const ProgramRun run = folder.run(fmt::format(
      "foretrain predict --model resnet50 --cluster {} --strategy ddp --batch 32 --gpus {} --format json",
      cluster, gpus));
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  const nlohmann::json point = nlohmann::json::parse(run.output)["points"].back();
  const nlohmann::json& speedup = point["speedup_interval"];
  return {point["step_s"].get<double>(), speedup["high"].get<double>() / speedup["low"].get<double>()};
}

void refuse(const TemporaryFolder& folder, const std::string& arguments, int code,
            const std::string& reason) {
  const std::size_t before = folder.entries();
  const ProgramRun run = folder.run("foretrain calibrate " + arguments);
  INFO(arguments << "\n" << run.output);
  CHECK(run.exit_code == code);
  CHECK_THAT(run.output, ContainsSubstring(reason));
  CHECK(folder.entries() == before);
}

}  // namespace

TEST_CASE(
    "a fitted calibration in a cluster's file changes predictions, which stay as sure where more is exposed"
    "job") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  const ProgramRun fit = folder.run("foretrain calibrate fit samples.csv --cluster puhti -o mine.toml");
  INFO(fit.output);
  REQUIRE(fit.exit_code == 0);
  write_puhti(folder, "plain.toml", "");
  write_puhti(folder, "measured.toml", "calibration = \"./mine.toml\"\n");
  const Interval plain = step_of(folder, "./plain.toml", 8), measured = step_of(folder, "./measured.toml", 8);
  CHECK(measured.median > 1.05 * plain.median);
  // The network is slower than the catalog says, and so more of it is exposed; but it is known now.
  CHECK(measured.width < 1.02 * plain.width);
}

TEST_CASE("what is fitted is written, shown, drawn and fitted the same again") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces("# gpu: V100\n# nccl: 2.20.5\n"));
  REQUIRE(folder
              .run("foretrain calibrate fit samples.csv --cluster puhti -o mine.toml --svg fit.svg "
                   "--description 'two nodes'")
              .exit_code == 0);
  const std::string text = folder.read("mine.toml");
  CHECK_THAT(text, ContainsSubstring("description = \"two nodes\"\n"));
  CHECK_THAT(text, ContainsSubstring("gpu = \"V100\"\n"));
  CHECK_THAT(text, ContainsSubstring("nccl = \"2.20.5\"\n"));
  CHECK_THAT(text, ContainsSubstring("files = \"samples.csv (samples CSV, 11 samples)\"\n"));
  CHECK_THAT(text, ContainsSubstring("op = \"all_reduce\"\ngpus = 8\nnodes = 2\n"));
  CHECK_THAT(text, ContainsSubstring("[[points]]"));
  CHECK(folder.read("fit.svg").ends_with("</svg>\n"));
  const ProgramRun show = folder.run("foretrain calibrate show ./mine.toml --worst 3 --svg shown.svg");
  CHECK(show.exit_code == 0);
  CHECK_THAT(show.output, ContainsSubstring("all_reduce"));
  CHECK(folder.read("shown.svg").ends_with("</svg>\n"));
  const ProgramRun printed =
      folder.run("foretrain calibrate fit samples.csv --cluster puhti --description 'two nodes'");
  CHECK(printed.exit_code == 0);
  CHECK(printed.output == text);
}

TEST_CASE("bytes of another encoding in a log do not make a calibration that cannot be read") {
  const TemporaryFolder folder;
  folder.write("table.log", gathers("# host: caf\xe9 \x7f\n"));
  const ProgramRun fit = folder.run(
      "foretrain calibrate fit table.log --op all_gather --gpus 8 --nodes 2 --cluster puhti -o mine.toml");
  INFO(fit.output);
  REQUIRE(fit.exit_code == 0);
  const ProgramRun show = folder.run("foretrain calibrate show ./mine.toml");
  INFO(show.output);
  CHECK(show.exit_code == 0);
}

TEST_CASE("a calibration of very many samples can still be read") {
  const TemporaryFolder folder;
  std::string text = kHeader;
  for (int i = 0; i < 120'000; ++i)
    text += fmt::format("copy,h2d,1,1,{},{:.5f},us,0.02,5,memory=pinned,\n", 1 << (20 + i % 10),
                        10 + (1 << (20 + i % 10)) / 11e3);
  folder.write("samples.csv", text);
  REQUIRE(folder.run("foretrain calibrate fit samples.csv --cluster puhti -o mine.toml").exit_code == 0);
  const ProgramRun show = folder.run("foretrain calibrate show ./mine.toml");
  CHECK(show.exit_code == 0);
  CHECK_THAT(show.output, ContainsSubstring("link.pcie3_x16.bandwidth"));
}

TEST_CASE("samples of a log are listed, and written as a samples CSV that gives the same list") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  const ProgramRun list = folder.run("foretrain calibrate samples samples.csv");
  CHECK(list.exit_code == 0);
  CHECK_THAT(list.output, ContainsSubstring("samples.csv: samples CSV, 11 rows, 11 samples\n"));
  CHECK_THAT(list.output, ContainsSubstring("1024 to 1073741824 B"));
  REQUIRE(folder.run("foretrain calibrate samples samples.csv --format csv -o again.csv").exit_code == 0);
  CHECK_THAT(folder.run("foretrain calibrate samples again.csv").output,
             ContainsSubstring("11 rows, 11 samples\n"));
}

TEST_CASE("a log that does not name its collective is told it with --op") {
  const TemporaryFolder folder;
  folder.write("table.log",
               gathers());  // 7/8 of the bandwidth on the bus, nothing checked: all_gather or alltoall
  const ProgramRun told =
      folder.run("foretrain calibrate samples table.log --op alltoall --gpus 8 --nodes 2");
  INFO(told.output);
  CHECK(told.exit_code == 0);
  CHECK_THAT(told.output, ContainsSubstring("alltoall"));
  CHECK_THAT(told.output, ContainsSubstring("   8 GPUs    2 nodes"));
}

TEST_CASE("a check says how well sizes are predicted that were held out, as a table or JSON") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  const ProgramRun table = folder.run("foretrain calibrate check samples.csv --cluster puhti");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, ContainsSubstring("held out: every second size of each operation and job\n"));
  CHECK_THAT(table.output, ContainsSubstring("6 samples fitted, 5 predicted"));
  CHECK_THAT(table.output, ContainsSubstring("median after at most 5 %: 1 of 1 platform\n"));
  const ProgramRun json = folder.run("foretrain calibrate check samples.csv --cluster puhti --format json");
  const nlohmann::json check = nlohmann::json::parse(json.output);
  CHECK(check["schema"] == "foretrain.calibration_check/1");
  CHECK(check["held"] == 5);
  CHECK(check["after"]["median"].get<double>() < 0.05);
  const ProgramRun nodes =
      folder.run("foretrain calibrate check samples.csv --cluster puhti --hold-out nodes");
  CHECK(nodes.exit_code == 0);
  CHECK_THAT(nodes.output, ContainsSubstring("puhti: one number of nodes\n"));
}

TEST_CASE("what cannot be calibrated is refused with its reason, and nothing is written") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  folder.write("poem.txt", "shall I compare thee\nto a summer's day\n");
  folder.write("impossible.csv", std::string(kHeader) + "collective,all_reduce,9999,3,1024,100,us,,1,,\n");
  folder.write("broken.toml", "constants = 3\n");
  refuse(folder, "fit missing.log --cluster puhti -o out", 1, "missing.log");
  refuse(folder, "fit missing.log poem.txt --cluster puhti -o out", 1, "poem.txt");
  refuse(folder, "fit samples.csv --cluster puhtii -o out", 1, "did you mean");
  refuse(folder, "fit poem.txt --cluster puhti -o out", 1, "these are read: ");
  refuse(folder, "fit poem.txt --cluster puhti -o out", 1, "nccl-tests");
  refuse(folder, "fit impossible.csv --cluster puhti -o out", 1, "no constant could be fitted");
  refuse(folder, "samples poem.txt -o out", 1, "known format");
  refuse(folder, "show nothing-like-it -o out", 1, "unknown calibration");
  refuse(folder, "show ./broken.toml -o out", 1, "constants");
  refuse(folder, "check samples.csv -o out", 1, "--cluster NAME");
  refuse(folder, "check poem.txt --cluster puhti -o out", 1, "known format");
}

TEST_CASE("wrong command lines of calibrate are wrong usage") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  refuse(folder, "", 2, "which of run, fit, show");
  refuse(folder, "fit samples.csv -o out", 2, "--cluster");
  refuse(folder, "fit --cluster puhti -o out", 2, "FILE");
  refuse(folder, "check samples.csv --cluster puhti --hold-out colours", 2, "colours");
  refuse(folder, "samples samples.csv --format xml", 2, "xml");
  refuse(folder, "samples samples.csv --gpus 0", 2, "--gpus");
}

TEST_CASE("a calibration that cannot be written is the world's fault, and no half of it stays") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  refuse(folder, "fit samples.csv --cluster puhti -o /nowhere/mine.toml", 3, "/nowhere/mine.toml");
}

TEST_CASE("without the benchmark beside it or on the path, run says how it is built") {
  const TemporaryFolder folder;
  if (std::filesystem::exists(std::filesystem::path(FORETRAIN_BINARY).parent_path() / "foretrain-bench"))
    FORETRAIN_SKIP("foretrain-bench is beside foretrain");
  const ProgramRun run = folder.run(
      "program=$(command -v foretrain)\nPATH=/nowhere \"$program\" calibrate run --budget 1m -o samples.csv");
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.output, ContainsSubstring("cmake --preset cuda"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("the day of a fit is that of UTC, east and west of it") {
  const TemporaryFolder folder;
  folder.write("samples.csv", slow_all_reduces());
  for (const char* zone : {"UTC0", "WEST12", "EAST-14"}) {
    const ProgramRun run =
        folder.run(std::string("date -u +%F; TZ=") + zone +
                   " foretrain calibrate fit samples.csv --cluster puhti -o fit.toml > table; date -u +%F");
    INFO(zone << ": " << run.output);
    REQUIRE(run.output.size() == 22);  // two days, each with its line end
    const std::string fitted = folder.read("fit.toml"), before = run.output.substr(0, 10),
                      after = run.output.substr(11, 10);
    const bool is_today = fitted.find("fitted = \"" + before + "\"") != std::string::npos;
    CHECK((is_today || fitted.find("fitted = \"" + after + "\"") != std::string::npos));
  }
}

TEST_CASE("a log of another GPU is not fitted, and predict says where a calibration is from") {
  std::string devices = "#\n# Using devices\n";
  for (int rank = 0; rank < 8; ++rank)
    devices +=
        fmt::format("#  Rank  {0} Group  0 Pid 10{0} on  node0 device  {0} [0x0{0}] NVIDIA B200\n", rank);
  const TemporaryFolder folder;
  std::string log = gathers();
  log.insert(log.find('\n') + 1, devices);
  folder.write("all_gather.log", log);
  const ProgramRun refused =
      folder.run("foretrain calibrate fit all_gather.log --cluster dgx-a100 -o cal.toml");
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.output,
             ContainsSubstring("it was measured on NVIDIA B200, and dgx-a100 has a100-sxm4-40gb"));
  CHECK(folder.run("foretrain calibrate fit all_gather.log --op all_gather --cluster hgx-b200 -o cal.toml")
            .exit_code == 0);
  const ProgramRun warned = folder.run(
      "foretrain predict --model resnet50 --cluster dgx-a100 --set cluster.calibration=./cal.toml --gpus 8");
  CHECK(warned.exit_code == 0);
  CHECK_THAT(warned.output,
             ContainsSubstring("was measured on NVIDIA B200, and dgx-a100 has a100-sxm4-40gb"));
}

}  // namespace calibrate_command_test
