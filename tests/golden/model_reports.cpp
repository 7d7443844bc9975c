// Reports of a network against approved texts in tests/golden/approved; a wanted change is approved by
// copying what the failing test prints.

#include <fmt/format.h>

#include "sim/report/model/model_catalog.hpp"
#include "tests/support/approved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_model_summary.hpp"

namespace model_reports {

using namespace foretrain;
using test::approved;

TEST_CASE("the table of a model is as approved") {
  CHECK(write_model_table(test::example_timed_model_summary(), LayerListing::folded) ==
        approved("model.txt"));
}
TEST_CASE("the JSON of a model is as approved") {
  CHECK(write_model_json(test::example_timed_model_summary(), LayerListing::folded) ==
        approved("model.json"));
}
TEST_CASE("the CSV of a model is as approved") {
  CHECK(write_model_csv(test::example_model_summary(), LayerListing::folded) == approved("model.csv"));
}

}  // namespace model_reports
