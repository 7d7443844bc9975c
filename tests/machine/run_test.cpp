// A whole run from end to end, what it leaves, and that a run which was killed goes on to the same result.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/csv/samples.hpp"
#include "tests/machine/machine_folder.hpp"
#include "tests/support/catch.hpp"

namespace run_test {

using namespace foretrain;
using test::MachineFolder;
using test::MachineOutcome;

namespace {

/// What a report says of results, without how long the stages took.
std::string results_of(const MachineFolder& folder) {
  const std::string report = folder.text_of("report.md");
  return report.substr(0, report.find("## What ran"));
}

MeasurementFile rows_of_run(const MachineFolder& folder) {
  const SourceText source{"steps.csv", folder.text_of("steps.csv")};
  Diagnostics diagnostics(source);
  MeasurementFile file = read_measurements(source, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::string read_path(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("calibrate machine measures, fits and reports with all stand-ins") {
  const MachineFolder folder;
  const MachineOutcome run = folder.run("--budget 30s");
  INFO(run.out);
  REQUIRE(run.exit_code == 0);
  for (const char* name :
       {"cluster.toml", "about.json", "samples.csv", "steps.jsonl", "steps.csv", "before.csv",
        "calibration.toml", "after.csv", "report.md", "report.html", "networks/resnet50.toml"})
    CHECK(folder.has(name));
  CHECK(rows_of_run(folder).scaling.size() == 12);
  const std::string report = folder.text_of("report.md");
  CHECK_THAT(report,
             ContainsSubstring("| all | all | 12 |") && ContainsSubstring("| precision | fp32 | 6 |") &&
                 ContainsSubstring("| kind | encoder | 4 |") && ContainsSubstring("after bench median"));
  CHECK_THAT(report, ContainsSubstring("| gpu.memory\\_efficiency |") && ContainsSubstring("| conv |") &&
                         ContainsSubstring("peak allocated"));
  CHECK_THAT(folder.text_of("report.html"),
             ContainsSubstring("<h2>Predicted against measured</h2>") && !ContainsSubstring("http"));
}

TEST_CASE("the rows of a run are taken by validate, calibrate fit and evidence add") {
  const MachineFolder folder;
  REQUIRE(folder.run_without_bench("").exit_code == 0);
  const MachineOutcome validated = folder.line("cd run && foretrain validate steps.csv --no-anchor");
  CHECK_THAT(validated.out, ContainsSubstring("12 rows, 12 scored, 0 skipped"));
  const MachineOutcome samples = folder.line("cd run && foretrain calibrate samples steps.csv");
  CHECK_THAT(samples.out, ContainsSubstring("12 rows, 12 samples"));
  const MachineOutcome added =
      folder.line("cd run && foretrain evidence add steps.csv --source this --store ../own.csv");
  INFO(added.out);
  CHECK_THAT(added.out, ContainsSubstring("12 rows in"));
}

TEST_CASE("a step that scales with one factor is fitted, although a file holds its cluster") {
  const MachineFolder folder;
  REQUIRE(folder.run_without_bench("").exit_code == 0);
  // Every step takes 1.3 times what is predicted: the one factor on all kernels says so.
  const MachineOutcome made = folder.line(
      "cd run && awk -F, 'NR==FNR { if (FNR>1) { gsub(\"\\\"\", \"\", $1); p[$1]=$4 } next } "
      "/^#|^series/ { print; next } { $10=1.3*p[$1]; OFS=\",\"; print }' before.csv steps.csv > scaled.csv "
      "&& "
      "foretrain calibrate fit scaled.csv --cluster ./cluster.toml");
  INFO(made.out);
  CHECK(made.exit_code == 0);
  CHECK_THAT(made.out, ContainsSubstring("kernel.time_scale"));
}

TEST_CASE("a run that is killed at any moment goes on to the result of an unbroken one") {
  const MachineFolder whole;
  REQUIRE(whole.run_without_bench("").exit_code == 0);
  for (const char* moment : {"1", "5", "12"}) {
    const MachineFolder folder;
    const MachineOutcome killed =
        folder.run_without_bench("", std::string("FAKE_FAULT=kills_parent FAKE_AFTER=") + moment);
    INFO(moment << "\n" << killed.out);
    CHECK(killed.exit_code == 128 + 9);
    CHECK_FALSE(folder.has("report.md"));
    const MachineOutcome resumed = folder.run_without_bench("--resume");
    INFO(resumed.out);
    REQUIRE(resumed.exit_code == 0);
    for (const char* name : {"steps.csv", "before.csv", "kernels.jsonl", "cluster.toml"})
      CHECK(folder.text_of(name) == whole.text_of(name));
    CHECK(results_of(folder) == results_of(whole));
  }
}

TEST_CASE("an interrupted run says how to go on, and goes on") {
  const MachineFolder folder;
  const MachineOutcome broken = folder.run_without_bench("", "FAKE_FAULT=interrupts");
  CHECK(broken.exit_code == 130);
  CHECK_THAT(broken.out, ContainsSubstring("go on with: foretrain calibrate machine -o run --resume"));
  const MachineOutcome again = folder.run_without_bench("");
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, ContainsSubstring("error: run holds an unfinished run, of which detect is done") &&
                            ContainsSubstring("--resume goes on with what is not done"));
  CHECK(folder.run_without_bench("--resume").exit_code == 0);
  CHECK(rows_of_run(folder).scaling.size() == 12);
}

TEST_CASE("files to share name no host, no user and no folder") {
  const MachineFolder folder;
  const MachineOutcome run = folder.run_without_bench("", "FAKE_FAULT=dies HOME=/home/somebody");
  INFO(run.out);
  CHECK(run.exit_code == 3);
  const std::string report = folder.text_of("report.md");
  CHECK_THAT(report, ContainsSubstring("unspecified launch failure in a.py"));
  std::array<char, 256> host{};
  REQUIRE(::gethostname(host.data(), host.size() - 1) == 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "run")) {
    const std::string name = std::filesystem::relative(entry.path(), folder.path() / "run").string();
    if (!entry.is_regular_file() || name.starts_with("log/") || name == "progress.toml") continue;
    INFO(name);
    const std::string text = read_path(entry.path());
    CHECK_THAT(text, !ContainsSubstring(folder.path().string()) && !ContainsSubstring("somebody"));
    CHECK_THAT(text, !ContainsSubstring("host: " + std::string(host.data())));
  }
}

}  // namespace run_test
