// The table for people: durations, plurals, what is left out.
#include "sim/report/prediction/table.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/diagnostics.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/validation/validation_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"

namespace table_test {

using namespace foretrain;

TEST_CASE("durations are spoken as people plan with them") {
  CHECK(spoken_time(0) == "0 s");
  CHECK(spoken_time(0.0012) == "1.2 ms");
  CHECK(spoken_time(41.23) == "41.2 s");
  CHECK(spoken_time(599) == "599 s");
  CHECK(spoken_time(600) == "10 min");
  CHECK(spoken_time(3569) == "59 min");
  CHECK(spoken_time(3571) == "1 h 00 min");  // 59.5 minutes round to 60
  CHECK(spoken_time(12'300) == "3 h 25 min");
  CHECK(spoken_time(48 * 3600) == "2 d 00 h");
  CHECK(spoken_time(100 * 86'400.0) == "100 d 00 h");
}

TEST_CASE("a duration without bound is still printed") {
  CHECK_FALSE(spoken_time(std::numeric_limits<double>::infinity()).empty());
  CHECK_FALSE(spoken_time(1e300).empty());
}

TEST_CASE("a row that does not fit in memory is marked") {
  const std::string table = write_table(test::example_shortage(), {});
  CHECK_THAT(table, ContainsSubstring("2048.0        -          -      8 GB !"));
  CHECK_THAT(table, ContainsSubstring("warning: 8 GPUs: about 8 GB are needed"));
}

TEST_CASE("what the run does besides its steps is told in one line") {
  CHECK_THAT(write_table(test::example_prediction(), {}),
             ContainsSubstring("Besides the steps, on 8 GPUs: start-up 10 s, loader restarts 20 s, "
                               "validation 240 s, checkpoints 30 s; 0.5 % of "
                               "the total.\n"));
  const Prediction p = test::example_without_samples();
  CHECK(write_table(p, {}).find("Besides") == std::string::npos);
}

TEST_CASE("decisions are shown only when asked for") {
  CHECK(write_table(test::example_prediction(), {}).find("Decisions") == std::string::npos);
  CHECK_THAT(write_table(test::example_prediction(), {.explain = true}),
             ContainsSubstring("  all_reduce 26.3 MB: ring, Simple (LL would take 3 ms)\n"));
}

TEST_CASE("the crossover is told in words") {
  Prediction p = test::example_prediction();
  CHECK_THAT(write_table(p, {}),
             ContainsSubstring("Fastest: 320 GPUs of 320. All of them together are fastest"));
  p.crossover.fastest_gpus = 1, p.crossover.no_gain_from = 2,
  p.crossover.slower_than_one_gpu = {{2, 3}, {12, 320}};
  CHECK_THAT(write_table(p, {}), ContainsSubstring("Fastest: 1 GPU of 320. No gain from 2 GPUs."));
  CHECK_THAT(write_table(p, {}), ContainsSubstring("Slower than one GPU: at 2 to 3, from 12 on."));
}

TEST_CASE("of a job that cannot run only steps and memory are shown, and nothing is fastest") {
  Prediction p = test::example_shortage();
  p.cannot_run = true;
  const std::string table = write_table(p, {});
  CHECK_THAT(table, Catch::Matchers::StartsWith(p.answer.verdict));
  for (const char* verdict :
       {"Fastest", "90 % intervals", "worth requesting", "Slower than", "Lost at", " 6.40"})
    CHECK(table.find(verdict) == std::string::npos);
  CHECK_THAT(table, ContainsSubstring("warning: 8 GPUs"));
}

TEST_CASE("what is worth requesting, and what is lost where it stops") {
  const std::string table = write_table(test::example_prediction(), {});
  CHECK_THAT(table, ContainsSubstring("GPUs worth requesting at efficiency of at least 90 %: up to 4; 80 %: "
                                      "up to 4, some up to 8; 70 %: all 320; "
                                      "50 %: all 320.\n"));
  CHECK_THAT(table, ContainsSubstring("Slower than one GPU: never. Slower than fewer GPUs: at 5 to 7.\n"));
  CHECK_THAT(table, ContainsSubstring("Lost at 8 GPUs, 25 ms of each step: 60 % exposed communication over "
                                      "the network (ib), 30 % copies of "
                                      "gradients and buffers, 10 % the slowest GPU sets the pace.\n"));
  CHECK_THAT(table, ContainsSubstring("Lost at 5 GPUs, 40 ms of each step: 100 % exposed communication"));
}

TEST_CASE("the inverse questions are told in one line each") {
  const std::string table = write_table(test::example_break_even(), {});
  CHECK_THAT(
      table,
      ContainsSubstring(
          "\n8 GPUs train 0.80 times as fast as one. They beat one with\n"
          "  batch per GPU: from 48 on (now 32)\n"
          "  width of the network: resnet50 has a layer of type timed, whose size does not follow a width\n"
          "  samples per epoch, whole run: never, up to 1000000000000 (now 1280000)\n"
          "  the network (ib): from x2 = 25 GBps each (now 12.5 GBps)\n"
          "Fastest is 4 GPUs now, 16 at x4 = 50 GBps each of the network (ib).\n"));
  CHECK(write_table(test::example_prediction(), {}).find("They beat one") == std::string::npos);
}

TEST_CASE("a loss that comes with memory that is not there says so") {
  Prediction p = test::example_break_even();
  p.break_even->batch.fits = false, p.break_even->bandwidth.at.reset(), p.break_even->fastest.at.reset();
  const std::string table = write_table(p, {});
  CHECK_THAT(table,
             ContainsSubstring("batch per GPU: from 48 on (now 32), which does not fit into memory\n"));
  CHECK_THAT(table, ContainsSubstring("the network (ib): never, up to x64 (now 12.5 GBps)\n"));
  CHECK_THAT(table, ContainsSubstring("Fastest stays 4 GPUs from x1 to x64 of the network (ib).\n"));
}

TEST_CASE("weak and strong scaling stand one below the other with a line that compares them") {
  Prediction weak = test::example_prediction(), strong = test::example_prediction();
  strong.strong_scaling = true, strong.global_batch = 32, strong.crossover.fastest_gpus = 8;
  const std::string both = write_both_scalings_table(weak, strong, {});
  CHECK_THAT(both, Catch::Matchers::StartsWith(write_named_answer(weak, {})));
  CHECK_THAT(
      both,
      Catch::Matchers::EndsWith(
          "\nBoth: 32 samples on every GPU are fastest on 320 GPUs, 32 shared by all on 8 GPUs (6.40 times "
          "one GPU).\n"));
  const std::string csv = write_both_scalings_csv(weak, strong, {});
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);  // one header, two rows each
  CHECK_THAT(csv, Catch::Matchers::Matches("(.|\n)*,strong,[^\n]*\n"));
  CHECK(find_report("html")->write_both_scalings == nullptr);
}

TEST_CASE("a prediction without points is still a table") {
  CHECK_FALSE(write_table(Prediction{}, {}).empty());
}

TEST_CASE("formats are found by name") {
  for (const ReportEntry& row : report_catalog()) {
    CHECK(find_report(row.name) == &row);
    CHECK_FALSE(row.write(test::example_prediction(), {}).empty());
  }
  CHECK(find_report("xml") == nullptr);
  CHECK(report_names().size() == report_catalog().size());
}

TEST_CASE("a validation counts skipped rows by reason") {
  Validation v;
  v.rows = 3;
  v.skipped = {{2, "unknown model"}, {3, "unknown model"}, {4, "too large"}};
  const std::string table = write_validation_table(v);
  CHECK_THAT(table, ContainsSubstring("3 rows, 0 scored, 3 skipped"));
  CHECK_THAT(table, ContainsSubstring("     2 rows: unknown model\n"));
  CHECK_THAT(table, ContainsSubstring("     1 row: too large\n"));
}

TEST_CASE("a validation tells what rows were run with, and where each rule found that") {
  Validation v;
  v.inferred_settings = {{"strategy single for x", 1}};
  CHECK_THAT(write_validation_table(v),
             ContainsSubstring(
                 "\nRun with what strategies and nodes of rows mean\n     1 row: strategy single for x\n"));
  v.provenance = "p.toml";
  v.inferred_settings = {{"strategy single for x", 1},
                         {"a = 1", 2, "its log"},
                         {"b = 2", 0, "its log"},
                         {"c = 3", 4, "its page"}};
  CHECK_THAT(write_validation_table(v), ContainsSubstring(R"(
Run with what p.toml tells, and strategies and nodes of rows mean
     1 row: strategy single for x
     2 rows: a = 1
     0 rows: b = 2
             its log
     4 rows: c = 3
             its page
)"));
}

TEST_CASE("an anchor that cannot be reached is a failure of its group, with why") {
  Validation v;
  CHECK(write_validation_table(v).find("nreachable") == std::string::npos);
  const ValidatedRow row{"m", "c", "g", "ddp", "fp32", 1};
  v.unreached = {{"far", 7, 1, "the step cannot be reached", {{2, row}, {4, row}}},
                 {"alone", 9, 1, "nor this", {}}};
  const std::string table = write_validation_table(v, {{{"model"}}, 0});
  CHECK_THAT(table, ContainsSubstring("unreachable anchors: 2 groups, 2 rows not scored\n"));
  CHECK_THAT(table, ContainsSubstring("    0     0.0 %     0.0 %     0.0 %      0.0 %      0 %   m, and 2 "
                                      "rows of unreachable anchors\n"));
  CHECK_THAT(table, ContainsSubstring("\nUnreachable anchors\n     2 rows of far: the step cannot be "
                                      "reached\n     0 rows of alone: nor this\n"));
}

TEST_CASE("an unanchored validation shows no perfect scaling") {
  Validation v;
  CHECK_THAT(write_validation_table(v), ContainsSubstring("perfect scaling"));
  v.anchored = false;
  CHECK(write_validation_table(v).find("perfect scaling") == std::string::npos);
}

TEST_CASE("the worst rows of a validation stand in the order of the factor they are off") {
  Validation v;
  ValidatedPoint half, third_more, right;
  half.gpus = 2, half.measured = 10, half.predicted = 5;                     // off by 2
  third_more.gpus = 4, third_more.measured = 10, third_more.predicted = 15;  // by 1.5
  right.gpus = 8, right.measured = 10, right.predicted = 10;
  v.series = {{"one", 0, 0, {right, third_more}}, {"two", 0, 0, {half}}};
  const std::string table = write_validation_table(v, {.worst = 2});
  CHECK(table.find("two") < table.find("one"));
  CHECK_THAT(table, ContainsSubstring("     2           10            5   -50.00 %   two\n"));
  CHECK_THAT(table, ContainsSubstring("     4           10           15   +50.00 %   one\n"));
  CHECK(table.find("     8 ") == std::string::npos);
  CHECK_THAT(write_validation_table(v, {.worst = 100}),
             ContainsSubstring("     8           10           10"));
}

TEST_CASE("no table shows a minus before zero, nor what is no number") {
  CHECK(spoken_time(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(spoken_time(std::numeric_limits<double>::infinity()) == "-");
  Validation v;
  ValidatedPoint close;
  close.gpus = 2, close.measured = 10, close.predicted = 9.9999;
  v.series = {{"one", 0, 0, {close}}};
  CHECK_THAT(write_validation_table(v), ContainsSubstring("     2           10           10     0.00 %"));
  v.series[0].points[0].measured = 0;
  CHECK_THAT(write_validation_table(v), ContainsSubstring("     2            0           10        - %"));
}

}  // namespace table_test
