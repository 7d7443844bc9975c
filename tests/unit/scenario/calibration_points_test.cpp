// The samples behind a calibration, in its file: what is written is read again, and what nobody wrote is a
// mistake with its place.
#include "sim/scenario/calibration/calibration_points.hpp"

#include <cmath>

#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_calibration.hpp"

namespace calibration_points_test {

using namespace foretrain;

namespace {

struct ReadPoints {
  std::vector<CalibrationPoints> points;
  std::string errors;
};

ReadPoints read(const std::string& text) {
  const SourceText source{"mine.toml", text};
  Diagnostics diagnostics(source);
  std::vector<CalibrationPoints> points = read_calibration_points(source, diagnostics);
  return {std::move(points), format(diagnostics.found())};
}

std::string with_row(const std::string& row) { return "[[points]]\nwhat = \"gemm\"\nrows = [" + row + "]\n"; }

std::vector<CalibrationPoints> example_points() {
  return {{"collective all_reduce, 8 GPUs on 1 node",
           "log.txt",
           SampleUnit::us,
           0,
           {{12, 1048576, 61.5, 60.25}, {13, 4194304, 98.75, 99}}},
          {"copy h2d", "C:\\logs\\\"my\".csv", SampleUnit::gigabytes_per_s, -1, {{0, 0, 24.5, 24}}},
          {"tax gemm", "", SampleUnit::share, -1, {{2'000'000'000, 1, 1e-6, 0.125}}}};
}

}  // namespace

TEST_CASE("points are read again as they were written") {
  const auto [points, errors] = read(write_calibration_points(example_points()));
  CHECK(errors == "");
  CHECK(points == example_points());
}

TEST_CASE("a calibration with its points is read by both readers, each for its own") {
  const Calibration calibration = test::example_calibration_fit().calibration;
  const std::string text =
      write_calibration(calibration, test::example_constants()) + write_calibration_points(example_points());
  const SourceText source{"mycluster.toml", text};
  Diagnostics diagnostics(source);
  CHECK(read_calibration(source, diagnostics, test::example_constants()) ==
        as_written(calibration, test::example_constants()));
  CHECK(format(diagnostics.found()) == "");
  CHECK(read(text).points == example_points());
  CHECK(read(write_calibration(calibration, test::example_constants())).points.empty());
}

TEST_CASE("points of any size and value are read again to six digits") {
  for (const double value : {1e-12, 3.14159265e-7, 0.1, 1.0, 123456.7, 9.87654321e12, 1e18}) {
    const std::vector<CalibrationPoints> one{{"x", "y", SampleUnit::us, -1, {{1, 1e15, value, value}}}};
    const auto [points, errors] = read(write_calibration_points(one));
    INFO(value);
    CHECK(errors == "");
    REQUIRE(points.size() == 1);
    CHECK(points[0].rows[0].measured == Approx(value).epsilon(1e-5));
    CHECK(points[0].rows[0].bytes == 1e15);
  }
}

TEST_CASE("names of any file are read again, be there what may in them") {
  for (const std::string& name :
       {std::string("a\"b\\c.log"), std::string("tab\there"), std::string("line\nbreak"),
        std::string("del\x7f"), std::string("bell\x07"), std::string("Ünïcode.log"),
        std::string("caf\xe9.log"), std::string("[[points]] = \"'''")}) {
    const auto [points, errors] =
        read(write_calibration_points({{name, name, SampleUnit::us, -1, {{1, 2, 3, 4}}}}));
    INFO(name);
    CHECK(errors == "");
    REQUIRE(points.size() == 1);
    CHECK(points[0].rows.size() == 1);
  }
}

TEST_CASE("wrong points are reported where they stand") {
  const char* const hint = "[line, bytes, measured, fitted]";
  for (const char* row :
       {"[1, 2, 3]", "[1, 2, 3, 4, 5]", "[]", "1", "\"text\"", "[1, 2, \"3\", 4]", "[1, 2, 0, 4]",
        "[1, 2, 3, 0]", "[1, 2, -3, 4]", "[-1, 2, 3, 4]", "[1, -2, 3, 4]", "[1, 2, nan, 4]", "[1, 2, inf, 4]",
        "[1, 2, 3, 1e19]", "[3e9, 2, 3, 4]", "[1, 2, 3, true]"}) {
    const std::string errors = read(with_row("[1, 2, 3, 4], " + std::string(row))).errors;
    INFO(row << "\n" << errors);
    CHECK_THAT(errors, ContainsSubstring(hint));
    CHECK_THAT(errors, ContainsSubstring("mine.toml:3:"));
  }
}

TEST_CASE("wrong tables of points are reported") {
  const auto errors = [](const std::string& text) { return read(text).errors; };
  CHECK_THAT(errors("points = 3\n"), ContainsSubstring("points"));
  CHECK_THAT(errors("points = [1]\n"), ContainsSubstring("points must be tables"));
  CHECK_THAT(errors("[[points]]\nrows = []\n"), ContainsSubstring("what"));
  CHECK_THAT(errors("[[points]]\nwhat = \"x\"\n"), ContainsSubstring("rows"));
  CHECK_THAT(errors("[[points]]\nwhat = \"x\"\nrows = []\nunit = \"parsec\"\n"), ContainsSubstring("parsec"));
  CHECK_THAT(errors("[[points]]\nwhat = \"x\"\nrows = []\ncollective = -2\n"),
             ContainsSubstring("collective"));
  CHECK_THAT(errors("[[points]]\nwhat = \"x\"\nrows = []\ncolour = 1\n"), ContainsSubstring("colour"));
}

TEST_CASE("a hundred thousand points are read, and no more") {
  const auto rows = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "[1,2,3,4],";
    return text;
  };
  CHECK(read(with_row(rows(kMostCalibrationPoints))).errors == "");
  CHECK_THAT(read(with_row(rows(kMostCalibrationPoints)) + with_row("[1, 2, 3, 4]")).errors,
             ContainsSubstring("rows"));
  CHECK_THAT(read(with_row(rows(kMostCalibrationPoints + 1))).errors, ContainsSubstring("rows"));
}

}  // namespace calibration_points_test
