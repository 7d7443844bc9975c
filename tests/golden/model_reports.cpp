// Reports of a network against approved texts in tests/golden/approved; a wanted change is approved by copying what the failing test
// prints.
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sim/report/model_csv.hpp"
#include "sim/report/model_json.hpp"
#include "sim/report/model_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_model_summary.hpp"

using namespace foretrain;

namespace {

std::string approved(const std::string& name) {
  const std::string path = fmt::format("{}/tests/golden/approved/{}", FORETRAIN_SOURCE_DIR, name);
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the table of a model is as approved") {
  CHECK(write_model_table(test::example_timed_model_summary(), LayerListing::folded) == approved("model.txt"));
}
TEST_CASE("the JSON of a model is as approved") {
  CHECK(write_model_json(test::example_timed_model_summary(), LayerListing::folded) == approved("model.json"));
}
TEST_CASE("the CSV of a model is as approved") {
  CHECK(write_model_csv(test::example_model_summary(), LayerListing::folded) == approved("model.csv"));
}
