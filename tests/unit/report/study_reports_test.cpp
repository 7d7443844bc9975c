// Studies of which nothing fits.
#include "sim/report/study/study_reports.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/example_study.hpp"

namespace study_reports_test {

using namespace foretrain;
using Json = nlohmann::json;

namespace {

StudyResult without_memory() {
  StudyResult study = test::example_study();
  for (StudyRow& row : study.rows) row.point.memory_capacity = {1'000'000'000};
  study.fastest = study.cheapest = std::nullopt;
  return study;
}

}  // namespace

TEST_CASE("of a study of which nothing fits nothing is fastest, in no format") {
  CHECK_THAT(write_study_table(without_memory(), {}),
             ContainsSubstring("\nNothing is fastest: no combination fits into memory.\n"));
  const Json j = Json::parse(write_study_json(without_memory(), {}));
  CHECK(j["fastest"].is_null());
  CHECK(j["cheapest"].is_null());
  CHECK(j["combinations"][5]["speedup"].is_null());
  CHECK(write_study_csv(without_memory(), {}).find(",1,0,\n") == std::string::npos);
}

TEST_CASE("without data.samples a study has no epochs, in no format") {
  StudyResult study = test::example_study();
  study.samples = 0;
  for (StudyRow& row : study.rows) row.point.knows_epochs = false;
  const Json row = Json::parse(write_study_json(study, {}))["combinations"][5];
  for (const char* key : {"steps_per_epoch", "epoch_s", "total_s", "gpu_hours"}) CHECK(row[key].is_null());
  CHECK(row["speedup"] == 3.2);
  CHECK_THAT(write_study_csv(study, {}),
             ContainsSubstring(",4,1,64,256,,0.125,0.0625,0.25,,,2048,3.2,0.8,,"));
}

}  // namespace study_reports_test
