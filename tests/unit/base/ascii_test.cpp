// Blanks and letters of ASCII.
#include "sim/base/ascii.hpp"

#include "tests/support/catch.hpp"

namespace ascii_test {

using namespace foretrain;

TEST_CASE("blanks are cut off at both ends, line feeds stay") {
  CHECK(trimmed(" \t\r\v\fa b\t ") == "a b");
  CHECK(trimmed("\na ") == "\na");
  CHECK(trimmed(" \t ").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("a line of a table ends where its text ends") {
  CHECK(without_trailing_spaces("  a  b  ") == "  a  b");
  CHECK(without_trailing_spaces("a\t ") == "a\t");
  CHECK(without_trailing_spaces("   ").empty());
}

TEST_CASE("capital letters of ASCII become small, all else stays") {
  CHECK(lower_case("NCCL_Algo 2Z") == "nccl_algo 2z");
  CHECK(lower_case("\xC3\x84") == "\xC3\x84");  // a capital A with two dots is not ASCII
}

}  // namespace ascii_test
