// What the table and the drawing of a calibration leave out, mark and survive.
#include "sim/report/calibration/calibration_reports.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/example_calibration.hpp"

namespace calibration_reports_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a calibration of nothing has an empty table and a drawing without points") {
  CHECK(write_calibration_table({}, {}) == "");
  const std::string svg = draw_calibration({});
  CHECK(svg.starts_with("<svg"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count_of(svg, "<circle") == 0);
}

TEST_CASE("the worst residuals come first, as many as were asked for, with their line") {
  const std::string table =
      write_calibration_table(test::example_calibration_fit(), {test::example_constants(), 2});
  CHECK_THAT(table, ContainsSubstring("log.txt:14"));  // 50 % too long
  CHECK_THAT(table, ContainsSubstring("host.csv:9"));  // a quarter too long
  CHECK(table.find("log.txt:14") < table.find("host.csv:9"));
  CHECK(table.find("copies.csv:3") == std::string::npos);
}

TEST_CASE("reasons of lines that were left out are counted") {
  const std::string table =
      write_calibration_table(test::example_calibration_fit(), {test::example_constants(), 0});
  CHECK_THAT(table, ContainsSubstring("2 lines: size 0 (first: log.txt:50)"));
  CHECK_THAT(table, ContainsSubstring("1 line: no unit (first: copies.csv:8)"));
  CHECK_THAT(table, ContainsSubstring("tax.memory: no sample depends on it"));
}

TEST_CASE("a constant without a default or a known dimension is a plain number") {
  CalibrationFit fit;
  fit.calibration.constants = {{"mystery", 42, 0.1, 0, 0, 0, 0}};
  const std::string table = write_calibration_table(fit, {});
  CHECK_THAT(table, ContainsSubstring("mystery"));
  CHECK_THAT(table, ContainsSubstring("42"));
}

TEST_CASE(
    "the drawing has a dot for each measured point of a collective and a line and a band for each piece") {
  const std::string svg = draw_calibration(test::example_calibration_fit());
  CHECK(count_of(svg, "<circle class=\"measured\"") == 5);
  CHECK(count_of(svg, "class=\"fitted\"") == 3);
  CHECK(count_of(svg, "class=\"band\"") == 3);
}

TEST_CASE("the worst bar is marked, and names are escaped") {
  const std::string svg = draw_calibration(test::example_calibration_fit());
  CHECK(count_of(svg, "class=\"bar worst\"") == 1);
  CHECK(svg.find("bar worst") < svg.find("h2d pinned"));
  CHECK_THAT(svg, ContainsSubstring("launch &lt;gap&gt;"));
}

TEST_CASE("pieces and points that no logarithm shows are not drawn") {
  CalibrationFit fit;
  fit.calibration.collectives = {
      {"all_reduce", 2, 1, 0, "", "", {{0, 0, 0, 0, 0, 0}, {1024, 2048, 0, 0, 0, 0}}}};
  fit.residuals = {{"all_reduce", "a", 1, 0, 1, 1, SampleUnit::us, 0},
                   {"all_reduce", "a", 2, 8, 0, 1, SampleUnit::us, 0}};
  const std::string svg = draw_calibration(fit);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(count_of(svg, "<circle") + count_of(svg, "class=\"fitted\"") == 0);
}

}  // namespace calibration_reports_test
