// Errors grouped by what the rows share.
#include "sim/analysis/validation/error_groups.hpp"

#include "tests/support/catch.hpp"

namespace error_groups_test {

using namespace foretrain;

namespace {

ValidatedPoint point(const std::string& model, const std::string& gpu, double signed_error, int gpus = 1) {
  ValidatedPoint p;
  p.gpus = gpus, p.measured = 100, p.predicted = 100 * (1 + signed_error);
  p.row = {model, "cluster", gpu, "single", "fp32", 32};
  return p;
}

Validation validation_of(std::vector<ValidatedPoint> points) {
  Validation v;
  v.series.push_back({"one", 0, 0, {points.begin(), points.begin() + 1}});
  v.series.push_back({"two", 0, 0, {points.begin() + 1, points.end()}});
  return v;
}

}  // namespace

TEST_CASE("errors of one model are gathered over all series, the worst median first") {
  const Validation v = validation_of({point("a", "x", 0.1), point("b", "x", -0.5), point("a", "y", -0.3)});
  const std::vector<ErrorGroup> groups = group_errors(v, {"model"});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].values == std::vector<std::string>{"b"});
  CHECK(groups[0].rows == 1);
  CHECK(groups[0].error.bias == Approx(-0.5));
  CHECK(groups[1].values == std::vector<std::string>{"a"});
  CHECK(groups[1].rows == 2);
  CHECK(groups[1].error.median == Approx(0.2));  // of 10 % and 30 %
  CHECK(groups[1].error.bias == Approx(-0.1));   // of +10 % and -30 %
}

TEST_CASE("several keys make a group of each combination that occurs") {
  const Validation v = validation_of({point("a", "x", 0.1), point("b", "x", 0.1), point("a", "y", 0.1, 4)});
  CHECK(group_errors(v, {"gpu", "model"}).size() == 3);
  CHECK(group_errors(v, {"gpu"}).size() == 2);
  CHECK(group_errors(v, {"gpus"})[0].values == std::vector<std::string>{"1"});
  CHECK(group_errors(v, {"precision", "strategy", "cluster", "batch"})[0].values ==
        std::vector<std::string>{"fp32", "single", "cluster", "32"});
}

TEST_CASE("groups of equal medians stand in the order of their values") {
  const Validation v = validation_of({point("c", "x", 0.1), point("a", "x", -0.1), point("b", "x", 0.1)});
  const std::vector<ErrorGroup> groups = group_errors(v, {"model"});
  REQUIRE(groups.size() == 3);
  CHECK(groups[1].rows == 1);
  for (const std::string& key : error_group_keys()) CHECK_FALSE(group_errors(v, {key}).empty());
}

TEST_CASE("rows whose anchor cannot be reached are failures of their groups, and no errors") {
  Validation v = validation_of({point("a", "x", 0.1), point("b", "x", -0.5)});
  const ValidatedRow of_a{"a", "cluster", "x", "single", "fp32", 32},
      of_c{"c", "cluster", "y", "single", "fp32", 32};
  v.unreached = {{"far", 5, 1, "why", {{2, of_a}, {4, of_a}}}, {"farther", 9, 1, "why", {{2, of_c}}}};
  const std::vector<ErrorGroup> groups = group_errors(v, {"model"});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].values == std::vector<std::string>{"c"});  // nothing of it is scored
  CHECK(groups[0].rows == 0);
  CHECK(groups[0].failed == 1);
  CHECK(groups[0].coverage == 0);
  CHECK(groups[1].values == std::vector<std::string>{"b"});
  CHECK(groups[1].failed == 0);
  CHECK(groups[2].rows == 1);
  CHECK(groups[2].failed == 2);
  CHECK(groups[2].error.median == Approx(0.1));
  CHECK(group_errors(v, {"gpus"}).size() == 3);
}

TEST_CASE("without scored rows there are no groups") { CHECK(group_errors({}, {"model"}).empty()); }

}  // namespace error_groups_test
