// Quantities as people write them: every unit, every refusal, and printing.
#include "sim/base/quantity.hpp"

#include <cmath>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace quantity_test {

using namespace foretrain;

namespace {

double value_of(std::string_view text, Dimension dimension) {
  const ParsedQuantity parsed = parse_quantity(text, dimension);
  INFO(text << ": " << parsed.error);
  REQUIRE(parsed);
  return parsed.value;
}

std::string error_of(std::string_view text, Dimension dimension) {
  const ParsedQuantity parsed = parse_quantity(text, dimension);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.hint == "write it as in \"" + std::string(example_of(dimension)) + "\"");
  return parsed.error;
}

constexpr Dimension kDimensions[] = {Dimension::time,      Dimension::bytes,     Dimension::flops,
                                     Dimension::byte_rate, Dimension::flop_rate, Dimension::power};

/// 0.1 % to 10^15 in logarithmic steps with random digits.
double random_magnitude(std::uint64_t index, double from, double decades) {
  return from * std::pow(10, decades * CounterRandom(11).uniform(0, index));
}

}  // namespace

TEST_CASE("times may be written in eight units") {
  const std::pair<const char*, double> cases[] = {
      {"3 ps", 3e-12}, {"3 ns", 3e-9}, {"2.5 us", 2.5e-6}, {"2.5 µs", 2.5e-6}, {"4 ms", 4e-3},
      {"5 s", 5},      {"2 min", 120}, {"1.5 h", 5400},    {"1 d", 86400},     {"2 days", 172800}};
  for (const auto& [text, value] : cases) CHECK(value_of(text, Dimension::time) == Approx(value));
}

TEST_CASE("k, M, G, T, P are powers of ten, Ki, Mi, Gi, Ti powers of two") {
  const std::pair<const char*, double> cases[] = {
      {"7 B", 7},           {"1 kB", 1e3},         {"1 KB", 1e3},    {"1 MB", 1e6},
      {"1 GB", 1e9},        {"1 TB", 1e12},        {"1 PB", 1e15},   {"1 KiB", 1024},
      {"25 MiB", 26214400}, {"1 GiB", 1073741824}, {"1 TiB", 0x1p40}};
  for (const auto& [text, value] : cases) CHECK(value_of(text, Dimension::bytes) == value);
}

TEST_CASE("b is a bit, B a byte") {
  CHECK(value_of("8 b", Dimension::bytes) == 1);
  CHECK(value_of("8 Mb", Dimension::bytes) == 1e6);
  CHECK(value_of("400 Gbps", Dimension::byte_rate) == 50e9);
  CHECK(value_of("50 GBps", Dimension::byte_rate) == 50e9);
}

TEST_CASE("bandwidths end in ps or /s") {
  for (const char* text : {"1 GB/s", "1 GBps", "8 Gb/s", "8 Gbps", "8 Gbit/s", "1000 MBps", "1000000 kB/s"}) {
    CHECK(value_of(text, Dimension::byte_rate) == Approx(1e9));
  }
  CHECK(value_of("1 GiB/s", Dimension::byte_rate) == 1073741824);
}

TEST_CASE("work is FLOP, its rate FLOPs, FLOPS, FLOP/s or FLOPps") {
  CHECK(value_of("4.1 GFLOP", Dimension::flops) == Approx(4.1e9));
  for (const char* text : {"312 TFLOPs", "312 TFLOPS", "312 TFLOP/s", "312 TFLOPps", "0.312 PFLOPs"})
    CHECK(value_of(text, Dimension::flop_rate) == Approx(312e12));
}

TEST_CASE("power is in watts, with prefixes") {
  CHECK(value_of("300 W", Dimension::power) == 300);
  CHECK(value_of("0.4 kW", Dimension::power) == Approx(400));
  CHECK(error_of("300", Dimension::power) == "\"300\" has no unit");
  CHECK(error_of("300 w", Dimension::power) == "unknown unit \"w\"");
  CHECK(error_of("300 s", Dimension::power) == "\"300 s\" is a time, a power is needed");
  CHECK(error_of("300 W", Dimension::flop_rate) == "\"300 W\" is a power, a compute rate is needed");
}

TEST_CASE("the space before the unit and spaces around do not matter, exponents are numbers") {
  CHECK(value_of("25MiB", Dimension::bytes) == 26214400);
  CHECK(value_of("  25 \t MiB  ", Dimension::bytes) == 26214400);
  CHECK(value_of("1e3 B", Dimension::bytes) == 1000);
  CHECK(value_of(".5 s", Dimension::time) == 0.5);
  CHECK(value_of("0 s", Dimension::time) == 0);
}

TEST_CASE("a quantity of another dimension is refused by name") {
  CHECK(error_of("25 GB", Dimension::time) == "\"25 GB\" is a size, a time is needed");
  CHECK(error_of("25 GB", Dimension::byte_rate) == "\"25 GB\" is a size, a bandwidth is needed");
  CHECK(error_of("25 s", Dimension::bytes) == "\"25 s\" is a time, a size is needed");
  CHECK(error_of("3 GFLOP", Dimension::flop_rate) ==
        "\"3 GFLOP\" is an amount of work, a compute rate is needed");
  CHECK(error_of("3 TFLOPs", Dimension::flops) ==
        "\"3 TFLOPs\" is a compute rate, an amount of work is needed");
}

TEST_CASE("a number without a unit is refused") {
  CHECK(error_of("25", Dimension::bytes) == "\"25\" has no unit");
  CHECK(error_of("25 ", Dimension::time) == "\"25 \" has no unit");
}

TEST_CASE("NaN, infinity and negative numbers are refused") {
  for (const char* text : {"nan s", "inf s", "NaN s", "infinity s"})
    CHECK_THAT(error_of(text, Dimension::time), ContainsSubstring("is not a finite number"));
  CHECK(error_of("-inf s", Dimension::time) == "\"-inf s\" is not a finite number");
  CHECK(error_of("-1 s", Dimension::time) == "\"-1 s\" is negative");
  CHECK(error_of("-0 s", Dimension::time) == "\"-0 s\" is negative");
  CHECK(error_of("-1e400 s", Dimension::time) == "\"-1e400 s\" is negative");
}

TEST_CASE(
    "beyond the lowest and the highest value of its dimension a quantity is refused, with the limits in the "
    "unit it was written in") {
  const auto check = [](std::string_view text, Dimension dimension, std::string_view range) {
    const ParsedQuantity parsed = parse_quantity(text, dimension);
    INFO(text);
    CHECK(parsed.error == "\"" + std::string(text) + "\" is out of range");
    CHECK(parsed.hint == range);
  };
  check("1e-320 GBps", Dimension::byte_rate,
        "a bandwidth is 0, or from 1e-09 GBps to 1e+09 GBps");  // 1 B/s to 10^18 B/s
  check("1e-320 Gbps", Dimension::byte_rate, "a bandwidth is 0, or from 8e-09 Gbps to 8e+09 Gbps");
  check("1e400 s", Dimension::time,
        "a time is 0, or from 1e-12 s to 8.64e+12 s");  // a picosecond to 100 million days
  check("1e-13s", Dimension::time, "a time is 0, or from 1e-12 s to 8.64e+12 s");
  check("1e300 TB", Dimension::bytes, "a size is 0, or from 1e-12 TB to 1e+06 TB");
  check("1001 PB", Dimension::bytes,
        "a size is 0, or from 1e-15 PB to 1000 PB");  // 1.001e18; 64 bits end at 9.2e18
  check("1e-300 TFLOPs", Dimension::flop_rate, "a compute rate is 0, or from 1e-12 TFLOPs to 1e+06 TFLOPs");
  check("1e-400 W", Dimension::power, "a power is 0, or from 0.001 W to 1e+09 W");
}

TEST_CASE("the limits themselves are quantities in every unit, and so is zero") {
  CHECK(value_of("1000 PB", Dimension::bytes) == 1e18);
  CHECK(value_of("8 bps", Dimension::byte_rate) == 1);
  CHECK(value_of("1e-9 GBps", Dimension::byte_rate) == Approx(1));
  CHECK(value_of("0.001 ns", Dimension::time) == Approx(1e-12));
  CHECK(value_of("100000000 d", Dimension::time) == kLongestRun);
  CHECK(value_of("0 GBps", Dimension::byte_rate) == 0);
}

TEST_CASE("a key may narrow the range of its dimension") {
  const ParsedQuantity parsed = parse_quantity("2 s", Dimension::time, kLatencyRange);
  CHECK(parsed.hint == "a time is 0, or from 1e-12 s to 1 s");
  CHECK(parse_quantity("1 s", Dimension::time, kLatencyRange));
}

TEST_CASE("text that is no quantity is refused") {
  for (const char* text : {"", "   ", "fast", "s", "+5 s", "--5 s", "GB 5", "ten s"})
    CHECK_THAT(error_of(text, Dimension::time), ContainsSubstring("does not start with a number"));
}

TEST_CASE("unknown units are quoted") {
  CHECK(error_of("5 parsec", Dimension::time) == "unknown unit \"parsec\"");
  CHECK(error_of("5 s s", Dimension::time) == "unknown unit \"s s\"");
  CHECK(error_of("0x10 B", Dimension::bytes) == "unknown unit \"x10 B\"");
  CHECK(error_of("5 kMB", Dimension::bytes) == "unknown unit \"kMB\"");
  CHECK(error_of("5 gb", Dimension::bytes) == "unknown unit \"gb\"");
}

TEST_CASE("a long text is cut in the message") {
  std::string unit = "5 ", number(1'000'000, '9');
  unit.append(1'000'000, 'x');
  CHECK(error_of(unit, Dimension::time).size() < 100);
  CHECK(parse_quantity(number.append(" s"), Dimension::time).error.size() < 100);
}

TEST_CASE("any bytes are refused without harm") {
  const CounterRandom random(1);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::string text = i % 2 == 0 ? "5 " : "";
    for (std::uint64_t k = 0; k < i % 9; ++k) text += static_cast<char>(random.bits(i, k) & 0xFF);
    for (const Dimension dimension : kDimensions) {
      const ParsedQuantity parsed = parse_quantity(text, dimension);
      if (parsed) CHECK((parsed.value >= 0 && parsed.value <= range_of(dimension).most));
    }
  }
}

TEST_CASE("every example is a quantity of its dimension") {
  for (const Dimension dimension : kDimensions) CHECK(parse_quantity(example_of(dimension), dimension));
}

TEST_CASE("quantities print with three digits and the natural prefix") {
  CHECK(to_string(ByteRate{25e9}) == "25 GBps");
  CHECK(to_string(Bytes{26'214'400}) == "26.2 MB");
  CHECK(to_string(Bytes{0}) == "0 B");
  CHECK(to_string(Bytes{999}) == "999 B");
  CHECK(to_string(Bytes{1000}) == "1 kB");
  CHECK(to_string(Flops{4.1e9}) == "4.1 GFLOP");
  CHECK(to_string(FlopRate{312e12}) == "312 TFLOPs");
}

TEST_CASE("rounding moves to the next prefix instead of printing 1000") {
  CHECK(to_string(Bytes{999'600}) == "1 MB");
  CHECK(to_string(Bytes{999'499}) == "999 kB");
  CHECK(to_string(microseconds(999.7)) == "1 ms");
}

TEST_CASE("times print in the unit people would choose") {
  CHECK(to_string(Time{0}) == "0 s");
  CHECK(to_string(Time{1}) == "1 ps");
  CHECK(to_string(Time{750}) == "750 ps");
  CHECK(to_string(Time{1500}) == "1.5 ns");
  CHECK(to_string(microseconds(2.5)) == "2.5 us");
  CHECK(to_string(milliseconds(98.17)) == "98.2 ms");
  CHECK(to_string(seconds(41.23)) == "41.2 s");
  CHECK(to_string(seconds(599)) == "599 s");
  CHECK(to_string(seconds(600)) == "10 min");
  CHECK(to_string(seconds(36000)) == "10 h");
}

TEST_CASE("what is printed parses back to the same within half a unit of the third digit") {
  // Three digits: at worst 0.005 of 1.00, that is 0.5 %.
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Time time{static_cast<std::int64_t>(random_magnitude(i, 1, 17.9))};
    CHECK(value_of(to_string(time), Dimension::time) == Approx(to_seconds(time)).epsilon(0.006));
    const Bytes size{static_cast<std::int64_t>(random_magnitude(i, 1, 17.9))};
    CHECK(value_of(to_string(size), Dimension::bytes) ==
          Approx(static_cast<double>(size.count)).epsilon(0.006));
    const double any = random_magnitude(i, 1, 17.9);
    CHECK(value_of(to_string(ByteRate{any}), Dimension::byte_rate) == Approx(any).epsilon(0.006));
    CHECK(value_of(to_string(FlopRate{any}), Dimension::flop_rate) == Approx(any).epsilon(0.006));
    CHECK(value_of(to_string(Flops{any}), Dimension::flops) == Approx(any).epsilon(0.006));
  }
}

}  // namespace quantity_test
