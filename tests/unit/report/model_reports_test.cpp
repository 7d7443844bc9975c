// What the reports of a network hold, by listing and by format.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "sim/report/model/model_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_model_summary.hpp"

namespace model_reports_test {

using namespace foretrain;

namespace {

std::string written(const std::string& format, LayerListing listing, const ModelSummary& summary) {
  const ModelReportEntry* row = find_model_report(format);
  REQUIRE(row != nullptr);
  return row->write(summary, listing);
}

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("a listing of all layers has one line each, a folded one the repeated block once") {
  const ModelSummary s = test::example_model_summary();
  CHECK(lines(written("csv", LayerListing::all, s)) == 1 + 6);
  CHECK(lines(written("csv", LayerListing::folded, s)) == 1 + 4);
  CHECK(lines(written("csv", LayerListing::none, s)) == 1);
  CHECK_THAT(written("table", LayerListing::folded, s), ContainsSubstring("2 x\n  block.0.conv2d"));
  CHECK_THAT(written("table", LayerListing::all, s), ContainsSubstring("\nblock.1.relu "));
  CHECK_THAT(written("table", LayerListing::none, s), !ContainsSubstring("block.0"));
}

TEST_CASE("times stand in the reports only when there are some") {
  const ModelSummary without = test::example_model_summary(), with = test::example_timed_model_summary();
  CHECK_THAT(written("table", LayerListing::none, without), !ContainsSubstring("Slowest"));
  CHECK_THAT(written("table", LayerListing::none, with), ContainsSubstring("Slowest"));
  CHECK_FALSE(nlohmann::json::parse(written("json", LayerListing::all, without)).contains("times"));
  const auto json = nlohmann::json::parse(written("json", LayerListing::all, with));
  CHECK(json["times"]["kernel_s"] == Approx(310e-6));
  CHECK(json["times"]["classes"][2]["class"] == "optimizer");
  CHECK(json["times"]["slowest"][0]["layer"] == "block.0.conv2d");
  CHECK(json["layers"][0]["forward_s"] == Approx(20e-6));
}

TEST_CASE("the JSON of a model has its schema, totals and folded layers") {
  const auto json =
      nlohmann::json::parse(written("json", LayerListing::folded, test::example_model_summary()));
  CHECK(json["schema"] == "foretrain.model/1");
  CHECK(json["totals"]["parameters"] == 5088);
  CHECK(json["totals"]["kernels"]["backward"] == 10);
  REQUIRE(json["layers"].size() == 4);
  CHECK(json["layers"][1]["count"] == 2);
  CHECK(json["layers"][3]["kind"].is_null());
}

TEST_CASE("numbers of a table are grouped by thousands") {
  ModelSummary s = test::example_model_summary();
  s.totals.parameters = 138'357'544;
  CHECK_THAT(written("table", LayerListing::none, s), ContainsSubstring("138,357,544 in 6 tensors"));
}

TEST_CASE("a very long layer name is cut in front") {
  ModelSummary s = test::example_model_summary();
  s.layers[0].name = std::string(150, 'x') + ".tail";
  CHECK_THAT(written("table", LayerListing::all, s), ContainsSubstring("..xxx"));
  CHECK_THAT(written("table", LayerListing::all, s), ContainsSubstring("x.tail conv"));
}

TEST_CASE("model reports are found by name") {
  for (const std::string& name : model_report_names()) CHECK(find_model_report(name) != nullptr);
  CHECK(find_model_report("xml") == nullptr);
}

}  // namespace model_reports_test
