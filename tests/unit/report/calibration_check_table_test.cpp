// The held-out errors of a calibration, and what was read out of logs, as text and JSON.
#include <nlohmann/json.hpp>

#include "sim/report/calibration/calibration_reports.hpp"
#include "tests/support/catch.hpp"

namespace calibration_check_table_test {

using namespace foretrain;

namespace {

CalibrationCheck example_check() {
  CalibrationCheck check;
  check.fitted = 10, check.held = 8, check.platforms = 2, check.within_five_percent = 1;
  check.before = {0.2, 0.5, 0.25, -0.1}, check.after = {0.03, 0.15, 0.05, 0.01};
  check.checked = {{"slow (a)", 6, 4, {0.3, 0.6, 0.35, -0.2}, {0.06, 0.2, 0.08, 0.02}, ""},
                   {"fast", 4, 4, {0.1, 0.4, 0.15, 0}, {0.01, 0.1, 0.02, 0}, ""},
                   {"none", 0, 0, {}, {}, "one size"}};
  return check;
}

Sample all_reduce(std::int64_t bytes) {
  Sample sample;
  sample.what = "all_reduce", sample.gpus = 8, sample.nodes = 2, sample.bytes = bytes, sample.value = 1;
  return sample;
}

}  // namespace

TEST_CASE("the table of a check has the sum, a line for each platform and why others were not checked") {
  const std::string table = write_check_table(example_check());
  CHECK_THAT(table,
             ContainsSubstring(
                 "held out: every second size of each operation and job\n10 samples fitted, 8 predicted"));
  CHECK_THAT(table, ContainsSubstring("before   median  20.00 %   p90  50.00 %   bias  -10.00 %\n"));
  CHECK_THAT(table, ContainsSubstring("after    median   3.00 %   p90  15.00 %   bias   +1.00 %\n"));
  CHECK_THAT(table, ContainsSubstring("median after at most 5 %: 1 of 2 platforms\n"));
  CHECK_THAT(table, ContainsSubstring("   30.0 %     6.0 %    20.0 %    +2.0 %       6       4  slow (a)\n"));
  CHECK_THAT(table, ContainsSubstring("\nnot checked (1):\n  none: one size\n"));
  CHECK(table.find("slow (a)") < table.find("  fast\n"));
}

TEST_CASE("a check of nothing has no medians, and says what would be held out") {
  CalibrationCheck check;
  check.hold_out = HoldOut::nodes;
  const std::string table = write_check_table(check);
  CHECK_THAT(table, ContainsSubstring("held out: all jobs on more nodes than the smallest\n"));
  CHECK(table.find("median ") == std::string::npos);
  check.hold_out = HoldOut::gpus;
  CHECK_THAT(write_check_table(check),
             ContainsSubstring("held out: all jobs on more GPUs than the smallest\n"));
}

TEST_CASE("the JSON of a check has errors as shares, and every platform with why it was not checked") {
  CalibrationCheck check = example_check();
  check.checked[2].name = "caf\xe9";  // a file's name in another encoding
  const nlohmann::json json = nlohmann::json::parse(write_check_json(check));
  CHECK(json["schema"] == "foretrain.calibration_check/1");
  CHECK(json["hold_out"] == "sizes");
  CHECK(json["after"]["median"] == 0.03);
  CHECK(json["before"]["bias"] == -0.1);
  CHECK(json["within_five_percent"] == 1);
  REQUIRE(json["checked"].size() == 3);
  CHECK(json["checked"][0]["after"]["p90"] == 0.2);
  CHECK_FALSE(json["checked"][0].contains("not_checked"));
  CHECK(json["checked"][2]["not_checked"] == "one size");
}

TEST_CASE("a listing of samples has a line for each operation and job, with its sizes") {
  SampleFile file{
      "run.log", "nccl-tests", {{"nccl", "2.20.5"}}, 4, {all_reduce(8), all_reduce(1 << 20), all_reduce(64)},
      {}};
  Sample call;
  call.kind = SampleKind::host, call.what = "enqueue";
  file.samples.push_back(call);
  const std::string text = list_sample_files({file}, SampleListing::samples);
  CHECK_THAT(text, ContainsSubstring("run.log: nccl-tests, 4 rows, 4 samples\n  nccl: 2.20.5\n"));
  CHECK_THAT(text,
             ContainsSubstring(
                 "collective all_reduce          8 GPUs    2 nodes      3 samples in us, 8 to 1048576 B\n"));
  CHECK_THAT(text,
             ContainsSubstring("host       enqueue             1 GPU     1 node       1 sample  in us\n"));
  CHECK(list_sample_files({file}, SampleListing::files) == "run.log: nccl-tests, 4 rows, 4 samples\n");
}

TEST_CASE("skipped lines of one reason are one line, and only the first are numbered") {
  SampleFile file{"run.log", "nccl-tests", {}, 0, {}, {{3, "no time"}, {5, "size 0"}, {9, "no time"}}};
  CHECK(list_sample_files({file}, SampleListing::files) ==
        "run.log: nccl-tests, 0 rows, 0 samples\n  skipped: no time (lines 3, 9)\n  skipped: size 0 (line "
        "5)\n");
  file.skipped.clear();
  for (int line = 1; line <= 20; ++line) file.skipped.push_back({line, "no time"});
  CHECK_THAT(list_sample_files({file}, SampleListing::files),
             ContainsSubstring("(lines 1, 2, 3, 4, 5, 6, 7, 8 and 12 more)\n"));
  CHECK(list_sample_files({}, SampleListing::samples) == "");
}

}  // namespace calibration_check_table_test
