// CSV that spreadsheets and scripts read back.
#include "sim/report/prediction/csv.hpp"

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"

namespace csv_test {

using namespace foretrain;

namespace {

std::vector<std::vector<std::string>> read_back(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  CsvLines lines(text);
  for (auto fields = lines.next(); fields; fields = lines.next()) {
    records.emplace_back();
    for (const CsvField& field : *fields) records.back().push_back(field.text);
  }
  return records;
}

std::string value_of(const Prediction& p, const std::string& column, std::size_t line) {
  const auto records = read_back(write_csv(p, {}));
  const auto at = std::find(records[0].begin(), records[0].end(), column);
  REQUIRE(at != records[0].end());
  REQUIRE(records[line].size() == records[0].size());
  return records[line][static_cast<std::size_t>(at - records[0].begin())];
}

}  // namespace

TEST_CASE("every line has as many fields as the header") {
  const auto records = read_back(write_csv(test::example_prediction(), {}));
  REQUIRE(records.size() == 3);
  CHECK(records[1].size() == records[0].size());
  CHECK(records[2].size() == records[0].size());
}

TEST_CASE("a field under its column's name is the value") {
  const Prediction p = test::example_prediction();
  const auto value = [&](const std::string& column, std::size_t line) { return value_of(p, column, line); };
  CHECK(value("scenario", 1) == "example");
  CHECK(value("gpus", 2) == "8");
  CHECK(std::stod(value("step_s", 2)) == p.points[1].step_s);
  CHECK(std::stod(value("step_high_s", 2)) == p.points[1].interval.high_s);
  CHECK(std::stod(value("exposed_communication_s", 2)) == p.points[1].breakdown[1]);
  CHECK(std::stod(value("other_s", 2)) == p.points[1].breakdown[5]);
  CHECK(value("memory_capacity_bytes", 2) == "9000000000");
  CHECK(value("checkpoint_s", 2) == "30");
  CHECK(value("largest_batch_per_gpu", 2) == "24");
}

TEST_CASE("what does not fit into memory has empty fields, not those of one GPU") {
  const Prediction p = test::example_shortage();
  for (const char* column : {"speedup", "efficiency", "step_low_s", "step_high_s", "total_low_s",
                             "total_high_s", "speedup_low", "speedup_high", "chance_of_gain"}) {
    INFO(column);
    CHECK_FALSE(value_of(p, column, 1).empty());
    CHECK(value_of(p, column, 2).empty());
  }
  CHECK(value_of(p, "fits", 2) == "false");
  CHECK(value_of(p, "step_s", 2) == "0.125");
  CHECK(value_of(p, "total_s", 2) == "56250");
}

TEST_CASE("without data.samples there are no fields of an epoch of one step") {
  const Prediction p = test::example_without_samples();
  for (const char* column :
       {"steps_per_epoch", "epoch_s", "total_s", "gpu_hours", "total_low_s", "total_high_s"}) {
    INFO(column);
    CHECK(value_of(p, column, 1).empty());
  }
  CHECK(value_of(p, "speedup", 2) == "6.4");
}

TEST_CASE("names with commas and quotes come back whole") {
  for (const std::string name : {"plain", "a,b", "say \"x\"", "\"", ",", ""})
    CHECK(read_back(csv_field(name) + ",end\n")[0] == std::vector<std::string>{name, "end"});
}

TEST_CASE("a field is quoted only when it must be") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("a\"b") == "\"a\"\"b\"");
}

TEST_CASE("doubles survive to the last digit") {
  Prediction p = test::example_prediction();
  p.points.resize(1);
  p.points[0].step_s = 0.1 + 0.2;
  CHECK_THAT(write_csv(p, {}), ContainsSubstring(",0.30000000000000004,"));
}

}  // namespace csv_test
