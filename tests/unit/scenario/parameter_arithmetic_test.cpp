// Formulas of parameters: what is one, what it is worth, and when it has no value.
#include "sim/scenario/layers/parameter_arithmetic.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace parameter_arithmetic_test {

using namespace foretrain;

namespace {

std::optional<std::int64_t> with_seven(std::string_view text) {
  return arithmetic_value(text, [](std::string_view name) { return name == "a" ? 7 : 2; });
}

}  // namespace

TEST_CASE("a formula has one parameter at least and is well formed") {
  for (const char* right : {"$a", "4*$a", "$a + 1", "($a+1)*2/3", " $a - $b ", "1 - $a"})
    CHECK(is_arithmetic(right));
  for (const char* wrong :
       {"", "$", "7", "4*4", "$a +", "$a 2", "(($a)", "$a)", "$a^2", "a*$a", "99999999999999999999*$a"})
    CHECK_FALSE(is_arithmetic(wrong));
}

TEST_CASE("products come before sums and divisions round down") {
  CHECK(with_seven("$a") == 7);
  CHECK(with_seven("1 + 2*$a") == 15);
  CHECK(with_seven("(1 + 2)*$a") == 21);
  CHECK(with_seven("$a/$b") == 3);
  CHECK(with_seven("(1 - $a)/4") == -2);
  CHECK(with_seven("(8*$a/3 + 7)/8*8") == 24);
}

TEST_CASE("a division by zero and a value beyond 64 bits are no values") {
  CHECK(with_seven("1/($a - 7)") == std::nullopt);
  CHECK(with_seven("$a/(0 - $b)") == std::nullopt);
  CHECK(with_seven("9000000000000000000*$a") == std::nullopt);
  CHECK(with_seven("9000000000000000000 + 1000000000000000000*$b") == std::nullopt);
}

}  // namespace parameter_arithmetic_test
