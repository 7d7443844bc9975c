// Tables whose rows have names.
#include "sim/base/named_rows.hpp"

#include "tests/support/catch.hpp"

namespace named_rows_test {

using namespace foretrain;

namespace {

struct Row {
  std::string_view name;
  int value;
};
constexpr Row kRows[] = {{"table", 1}, {"json", 2}};

}  // namespace

TEST_CASE("a row is found by its name, and only then") {
  REQUIRE(find_row(kRows, "json") != nullptr);
  CHECK(find_row(kRows, "json")->value == 2);
  CHECK(find_row(kRows, "js") == nullptr);
  CHECK(find_row(std::vector<Row>{}, "json") == nullptr);
}

TEST_CASE("names come in the order of the rows") {
  CHECK(names_of_rows(kRows) == std::vector<std::string>{"table", "json"});
}

}  // namespace named_rows_test
