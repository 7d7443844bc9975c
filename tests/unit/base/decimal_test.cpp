// Numbers for people: signs, rounding, and what is no number.
#include "sim/base/decimal.hpp"

#include <limits>

#include "tests/support/catch.hpp"

namespace decimal_test {

using namespace foretrain;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a number has the decimals asked for, rounded") {
  CHECK(decimal(0.126, 2) == "0.13");
  CHECK(decimal(-7.25, 1) == "-7.2");  // a tie goes to the even digit
  CHECK(decimal(93.9, 0) == "94");
}

TEST_CASE("what rounds to zero has no sign") {
  CHECK(decimal(-0.004, 2) == "0.00");
  CHECK(decimal(-0.0, 0) == "0");
  CHECK(decimal(-6.9e-18, 1) == "0.0");
  CHECK(decimal(-0.006, 2) == "-0.01");
  CHECK(signed_decimal(-0.004, 2) == "0.00");
  CHECK(signed_decimal(0.004, 2) == "0.00");
  CHECK(signed_decimal(0, 2) == "0.00");
}

TEST_CASE("a signed number says which way") {
  CHECK(signed_decimal(0.54, 2) == "+0.54");
  CHECK(signed_decimal(-0.54, 2) == "-0.54");
}

TEST_CASE("what is no number is a dash") {
  for (const double value : {kNan, -kNan, kInfinity, -kInfinity}) {
    CHECK(decimal(value, 2) == "-");
    CHECK(signed_decimal(value, 2) == "-");
  }
}

TEST_CASE("a number too long for a column is written with an exponent") {
  CHECK(decimal(999'999'999, 1) == "999999999.0");
  CHECK(decimal(1.23e9, 2) == "1.23e+09");
  CHECK(signed_decimal(-1.23e300, 2) == "-1.23e+300");
}

TEST_CASE("a share is a percentage") {
  CHECK(percent(0.9391, 1) == "93.9");
  CHECK(signed_percent(0.0035, 2) == "+0.35");
  CHECK(signed_percent(-0.00003, 2) == "0.00");
}

TEST_CASE("digits stand in groups of three") {
  CHECK(grouped_digits(25'557'032) == "25,557,032");
  CHECK(grouped_digits(999) == "999");
  CHECK(grouped_digits(-1'000) == "-1,000");
  CHECK(grouped_digits(-999) == "-999");
}

}  // namespace decimal_test
