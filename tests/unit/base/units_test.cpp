// Time, sizes and rates: conversion, saturation, and what physics allows.
#include "sim/base/units.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace units_test {

using namespace foretrain;

TEST_CASE("a second is 10^12 picoseconds, rounded to the nearest") {
  CHECK(seconds(1).count() == 1'000'000'000'000);
  CHECK(seconds(1.4e-12).count() == 1);
  CHECK(seconds(1.6e-12).count() == 2);
  CHECK(seconds(0.4e-12).count() == 0);
}

TEST_CASE("microseconds and milliseconds are fractions of a second") {
  CHECK(microseconds(2.5).count() == 2'500'000);
  CHECK(milliseconds(3).count() == 3'000'000'000);
  CHECK(to_seconds(milliseconds(250)) == Approx(0.25));
}

TEST_CASE("what is no duration gives zero") {
  CHECK(seconds(std::nan("")) == Time::zero());
  CHECK(seconds(-1) == Time::zero());
  CHECK(seconds(-std::numeric_limits<double>::infinity()) == Time::zero());
}

TEST_CASE("durations saturate at the longest time instead of overflowing") {
  CHECK(seconds(1e6) == kLongestTime);  // 1e6 s = 1e18 ps
  CHECK(seconds(1e300) == kLongestTime);
  CHECK(seconds(std::numeric_limits<double>::infinity()) == kLongestTime);
  CHECK(seconds(999'999) < kLongestTime);
}

TEST_CASE("nine of the longest durations still add up without overflow") {
  Time sum{};
  for (int i = 0; i < 9; ++i) sum += kLongestTime;
  CHECK(sum.count() == 9'000'000'000'000'000'000);
}

TEST_CASE("25 GB at 12.5 GB/s take two seconds") {
  CHECK(Bytes{25'000'000'000} / ByteRate{12.5e9} == seconds(2));
}

TEST_CASE("no data takes no time, even without a rate") {
  CHECK(Bytes{0} / ByteRate{0} == Time::zero());
  CHECK(Bytes{-5} / ByteRate{1} == Time::zero());
  CHECK(Flops{0} / FlopRate{0} == Time::zero());
}

TEST_CASE("data or work without a rate takes the longest time") {
  CHECK(Bytes{1} / ByteRate{0} == kLongestTime);
  CHECK(Bytes{1} / ByteRate{-3} == kLongestTime);
  CHECK(Bytes{1} / ByteRate{std::nan("")} == kLongestTime);
  CHECK(Flops{1} / FlopRate{0} == kLongestTime);
}

TEST_CASE("the largest amount over the smallest rate saturates") {
  CHECK(Bytes{std::numeric_limits<std::int64_t>::max()} / ByteRate{1e-300} == kLongestTime);
  CHECK(Flops{1e308} / FlopRate{1e-300} == kLongestTime);
}

TEST_CASE("work that is not a number takes no time") {
  CHECK(Flops{std::nan("")} / FlopRate{1e12} == Time::zero());
}

TEST_CASE("amounts add, scale and compare") {
  Bytes size{10};
  size += Bytes{5};
  size -= Bytes{3};
  CHECK(size == Bytes{12});
  CHECK(Bytes{12} * 3 == Bytes{36});
  CHECK(Bytes{1} < Bytes{2});
  CHECK((Flops{2} + Flops{3}).count == 5);
  CHECK((ByteRate{4} * 0.5).per_second == 2);
  CHECK((FlopRate{4} * 2).per_second == 8);
}

TEST_CASE("sizes saturate at the ends of 64 bits") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  CHECK(Bytes{most} + Bytes{1} == Bytes{most});
  CHECK(Bytes{least} + Bytes{-1} == Bytes{least});
  CHECK(Bytes{least} - Bytes{1} == Bytes{least});
  CHECK(Bytes{most} - Bytes{-1} == Bytes{most});
  CHECK(Bytes{1'000'000'000'000'000} * 1'000'000 == Bytes{most});  // 1e21
  CHECK(Bytes{-1'000'000'000'000'000} * 1'000'000 == Bytes{least});
  CHECK(Bytes{-4} * -3 == Bytes{12});
}

}  // namespace units_test
