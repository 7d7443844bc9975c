// The reports of comparisons: what stands where; the whole texts are in tests/golden.
#include <nlohmann/json.hpp>

#include "sim/report/comparison/comparison_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_comparison.hpp"
#include "tests/support/example_machines.hpp"

namespace comparison_reports_test {

using namespace foretrain;
using Json = nlohmann::ordered_json;

TEST_CASE("differences in words are the three largest that count, with their signs") {
  CHECK(differences_in_words({{"a", 0.031}, {"b", -0.0052}, {"c", 0.00405}, {"d", 0.004}}) ==
        "+31.0 ms a, -5.20 ms b, +4.05 ms c");
  CHECK(differences_in_words({{"a", 0.031}, {"b", 0.003}}) ==
        "+31.0 ms a");  // less than a tenth of the largest
  CHECK(differences_in_words({{"a", 2.5e-5}}) == "+25.0 us a");
  CHECK(differences_in_words({}) == "no difference");
}

TEST_CASE("of the best the table says what its step is made of, of the others what they spend more") {
  const std::string table = write_comparison_table(test::example_comparison(), {});
  CHECK_THAT(table, ContainsSubstring("of its step 90 % forward and backward kernels, 10 % optimizer\n"));
  CHECK_THAT(table,
             ContainsSubstring(
                 "+2.10 ms a step: +2.50 ms forward and backward kernels, -0.40 ms buffer broadcast\n"));
  CHECK_THAT(table, ContainsSubstring(
                        "mirrored      mirrored is one process, which cannot drive GPUs of 2 nodes\n"));
  CHECK_THAT(table, ContainsSubstring(
                        "+25.0 ms a step: +35.0 ms forward and backward kernels, -9.60 ms optimizer\n"));
}

TEST_CASE("a strategy within two thousandths of the best is as fast") {
  Comparison c = test::example_comparison();
  c.numbers[0].strategies[1].point.step_s = 0.1001;
  CHECK_THAT(write_comparison_table(c, {}), ContainsSubstring("as fast as ddp\n"));
}

TEST_CASE("what launch or sampler waste stands before the reason") {
  Comparison c = test::example_comparison();
  c.numbers[0].strategies[1].job_losses = "processes train on the same samples; ";
  CHECK_THAT(write_comparison_table(c, {}),
             ContainsSubstring("processes train on the same samples; +2.10 ms a step: +2.50 ms"));
}

TEST_CASE("without samples there are no epochs in the table") {
  Comparison c = test::example_comparison();
  c.samples = 0;
  for (ComparedStrategy& row : c.numbers[0].strategies) row.point.knows_epochs = false;
  CHECK_THAT(write_comparison_table(c, {}), ContainsSubstring("Epochs need data.samples"));
  CHECK(Json::parse(write_comparison_json(c, {}))["points"][0]["strategies"][0]["epoch_s"].is_null());
}

TEST_CASE("what does not fit has no speedup and no share of the fastest's speed") {
  const Comparison c = test::example_comparison();
  const Json row = Json::parse(write_comparison_json(c, {}))["points"][0]["strategies"][2];
  CHECK(row["strategy"] == "data_parallel");
  CHECK(row["speedup"].is_null());
  CHECK(row["efficiency"].is_null());
  CHECK(row["ratio"]["value"].is_null());
  CHECK(row["ratio"]["high"].is_null());
  CHECK(row["memory"]["fits"] == false);
  CHECK_THAT(write_comparison_csv(c, {}),
             ContainsSubstring("data_parallel,does_not_fit,,32,128,0.125,125,1024,,,,,"));
}

TEST_CASE("decisions stand below the table when they are asked for") {
  CHECK_THAT(write_comparison_table(test::example_comparison(), {.explain = true}),
             ContainsSubstring("anchor: kernels x 1.100 (measured with ddp)"));
  CHECK_THAT(write_comparison_table(test::example_comparison(), {}), !ContainsSubstring("Decisions"));
}

TEST_CASE("the JSON has its schema, the ranking and the reasons in seconds") {
  const Json j = Json::parse(write_comparison_json(test::example_comparison(), {}));
  CHECK(j["schema"] == "foretrain.comparison/1");
  const Json& rows = j["points"][0]["strategies"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["strategy"] == "ddp");
  CHECK(rows[0]["runs"] == true);
  CHECK(rows[0]["against_best"].empty());
  CHECK(rows[0]["standing"] == "as_fast");
  CHECK(rows[1]["ratio"]["low"] == 0.91);
  CHECK(j["points"][0]["fastest"] == "ddp");
  CHECK(j["points"][0]["verdict"] == "4 GPUs: ddp is the fastest.");
  CHECK(rows[1]["against_best"][0]["what"] == "forward and backward kernels");
  CHECK(rows[1]["against_best"][0]["seconds"] == 0.0025);
  CHECK(rows[2]["memory"]["fits"] == false);
  CHECK(rows[3]["runs"] == false);
  CHECK_THAT(rows[3]["why_not"].get<std::string>(), ContainsSubstring("one process"));
}

TEST_CASE("every line of the CSV has as many fields as its header") {
  const auto fields = [](const std::string& line) {
    bool quoted = false;
    int count = 1;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++count;
    }
    return count;
  };
  std::istringstream text(write_comparison_csv(test::example_comparison(), {}));
  std::string header, line;
  std::getline(text, header);
  int lines = 0;
  while (std::getline(text, line)) {
    CHECK(fields(line) == fields(header));
    ++lines;
  }
  CHECK(lines == 4);
}

TEST_CASE("the table of best strategies has a cell for each pair") {
  CHECK(
      write_matrix_table(test::example_matrix()) ==
      R"(Strategy on 4 GPUs and its speedup over one GPU; (+N): so many others are within 2 % of the fastest; then the next one's
speed in % of the first's

            puhti                         mahti
resnet50    ddp 3.90x (+2), horovod 98 %  horovod 3.50x, ddp 100 %
spiral_mlp  ddp 2.00x                     ddp - !, horovod 50 %
)");
}

TEST_CASE("the best strategies as JSON and CSV leave the runner-up empty where there is none") {
  const Json j = Json::parse(write_matrix_json(test::example_matrix()));
  CHECK(j["schema"] == "foretrain.strategies/1");
  CHECK(j["choices"].size() == 4);
  CHECK(j["choices"][2]["runner_up"].is_null());
  CHECK(j["choices"][1]["runner_up_by"] == 0.995);
  CHECK_THAT(write_matrix_csv(test::example_matrix()),
             ContainsSubstring("4,spiral_mlp,puhti,ddp,0,0.002,2,1,,\n"));
  // It does not fit.
  CHECK(j["choices"][3]["speedup"].is_null());
  CHECK_THAT(write_matrix_csv(test::example_matrix()),
             ContainsSubstring("4,spiral_mlp,mahti,ddp,0,0.001,,0,horovod,0.5\n"));
}

TEST_CASE("the table of machines has the verdict first, reasons last, and 100 columns at most") {
  MachineComparison c = test::example_machines();
  c.rows.push_back(test::machine_row("a-cluster-with-quite-a-long-name", "rtx-2080ti", 1024, 777));
  c.rows.back().cost = 123456, c.rows.back().cost_unit = "BU";
  c.rows[1].why_not = std::string(30, 'w') + " " + std::string(40, 'x') + " " + std::string(40, 'y');
  judge_machines(c);
  const std::string table = write_machines_table(c, {});
  CHECK_THAT(table, StartsWith("One V100 of m3-v100 beats two P100 of m3-p100: 1.6 times faster and 69 % "));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= kMachineColumns);
  CHECK(table.find("123456 BU") < table.find("wwww"));
  CHECK(write_machines_table(c, {.explain = false, .quiet = true}).find("cluster  ") == std::string::npos);
}

TEST_CASE("JSON and CSV of machines have null and empty fields for what cannot run") {
  MachineComparison c = test::example_machines();
  judge_machines(c);
  const Json j = Json::parse(write_machines_json(c, {}));
  CHECK(j["schema"] == "foretrain.machines/1");
  CHECK(j["best"] == 0);
  CHECK(j["rows"][0]["cluster"] == "m3-v100");
  CHECK(j["rows"][0]["time_interval"]["high_s"] == 4320);
  CHECK(j["rows"][0]["cost"].is_null());
  CHECK(j["rows"][2]["why_not"] == "cluster one-gpu has 1 GPU");
  CHECK(j["rows"][2]["step_s"].is_null());
  CHECK(j["rows"][2]["memory"].is_null());
  const std::string csv = write_machines_csv(c, {});
  CHECK_THAT(csv,
             ContainsSubstring("example,run,m3-p100,p100-pcie-16gb,2,1,1,0.16,625,5760,4800,6912,0.625,"));
  CHECK_THAT(csv,
             ContainsSubstring("example,run,one-gpu,rtx-2080ti,2,,0,,,,,,,,,,,,cluster one-gpu has 1 GPU\n"));
}

TEST_CASE("the formats of comparisons are found by their names") {
  CHECK(comparison_report_names() == std::vector<std::string>{"table", "json", "csv"});
  CHECK(find_comparison_report("json")->write == write_comparison_json);
  CHECK(find_comparison_report("html") == nullptr);
}

}  // namespace comparison_reports_test
