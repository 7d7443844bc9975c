// The curve of a collective as CSV and JSON: exactly these columns and keys.
#include <nlohmann/json.hpp>

#include "sim/report/collective/collective_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_curve.hpp"

namespace collective_reports_test {

using namespace foretrain;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("a curve as CSV has one line per size") {
  CHECK(write_collective_csv(test::example_curve(), {}) ==
        "cluster,op,gpus,nodes,bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels,bound_by,"
        "bottleneck,launch_us,start_us,"
        "steps_us,fill_us,data_us,time_low_us,time_high_us\n"
        "puhti,all_reduce,4,2,8,10,0.0008,0.0012,Tree,LL,1,launch,nic0 of node 0 to leaf0,10,4,5,0,0.5,,\n"
        "puhti,all_reduce,4,2,1073741824,10000,107.374,161.061,Ring,Simple,16,link,nic0 of node 0 to "
        "leaf0,10,8,20,2,9970,,\n");
}

TEST_CASE("an explained CSV has one more column") {
  const std::string text = write_collective_csv(test::example_curve(), {.explain = true});
  CHECK_THAT(text, ContainsSubstring(",time_high_us,why\n"));
  CHECK_THAT(text, ContainsSubstring(",9970,,,\"Tree/Simple 11 ms, \"\"slower\"\"\"\n"));
}

TEST_CASE("a curve as JSON has exactly the keys of foretrain.collective/1") {
  const Json j = Json::parse(write_collective_json(test::example_curve(), {}));
  CHECK(keys(j) == Keys{"schema", "cluster", "gpu", "op", "gpus", "nodes", "processes_per_node", "single",
                        "library", "fidelity", "points", "warnings", "answer"});
  CHECK(j["schema"] == "foretrain.collective/1");
  CHECK(j["processes_per_node"].is_null());
  CHECK(keys(j["points"][0]) == Keys{"bytes", "time_s", "algbw_bytes_per_s", "busbw_bytes_per_s", "algorithm",
                                     "protocol", "channels", "bound_by", "bottleneck", "interval", "parts"});
  CHECK(keys(j["points"][0]["parts"]) == Keys{"launch_s", "start_s", "steps_s", "fill_s", "data_s"});
  CHECK(j["points"][1]["time_s"] == 0.01);
  CHECK(j["points"][1]["bottleneck"] == "nic0 of node 0 to leaf0");
  CHECK(Json::parse(write_collective_json(test::example_curve(), {.explain = true}))["points"][0]["why"] ==
        "Ring/LL 12 us");
}

TEST_CASE("a message of nothing has no algorithm in JSON and dashes in CSV") {
  CollectiveCurve curve = test::example_curve();
  curve.points = {CollectivePoint{}};
  const Json point = Json::parse(write_collective_json(curve, {}))["points"][0];
  for (const char* key : {"algorithm", "protocol", "bound_by", "bottleneck"}) CHECK(point[key].is_null());
  CHECK_THAT(write_collective_csv(curve, {}),
             ContainsSubstring("puhti,all_reduce,4,2,0,0,0,0,-,-,0,-,-,0,0,0,0,0,,\n"));
}

TEST_CASE("every format of the catalog writes something, and an unknown one is not there") {
  CHECK(collective_report_names() == Keys{"nccl-tests", "csv", "json"});
  for (const CollectiveReportEntry& row : collective_reports()) {
    CHECK(find_collective_report(row.name) == &row);
    CHECK(row.write(test::example_curve(), {}).size() > 100);
  }
  CHECK(find_collective_report("xml") == nullptr);
}

}  // namespace collective_reports_test
