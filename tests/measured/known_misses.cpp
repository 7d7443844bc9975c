// The list may only shrink: a line whose figure is met fails its test until it is taken out, and so does one
// that got worse. A line that is added shows in the diff twice, here as kCount.
#include "tests/measured/known_misses.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "sim/scenario/csv/csv_line.hpp"
#include "tests/support/catch.hpp"

namespace known_misses {

using namespace foretrain;
using test::Figure;
using test::KnownMiss;

namespace {

/// How many lines the list has. Lower it with every line that is taken out; no change that is to land raises
/// it.
constexpr std::size_t kCount = 25;

/// A listed value is written with four digits, and moves by less when a library rounds otherwise.
constexpr double kMargin = 0.01;

const std::filesystem::path kFolder = FORETRAIN_SOURCE_DIR "/tests/measured";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<KnownMiss> read_list(const std::string& text) {
  std::vector<KnownMiss> misses;
  CsvLines lines(text);
  for (auto fields = lines.next(); fields; fields = lines.next()) {
    if (fields->size() != 6)
      throw std::runtime_error(fmt::format("known_misses.csv: {} columns, expected 6", fields->size()));
    const auto at = [&](std::size_t column) { return std::string((*fields)[column].text); };
    if (at(0) == "test") continue;
    misses.push_back({at(0), at(1), std::stod(at(2)), at(3), std::stod(at(4)), at(5)});
  }
  return misses;
}

std::string line_of(const std::string& test, const Figure& figure, const std::string& why) {
  return fmt::format("{},{},{:.4g},{},{:.4g},{}", test, figure.row, figure.published, figure.rule_text(),
                     figure.ours, why);
}

bool is_as_listed(const Figure& figure, const KnownMiss& listed) {
  const auto same = [](double a, double b, double margin) { return std::abs(a - b) <= margin * std::abs(b); };
  return listed.rule == figure.rule_text() && same(figure.published, listed.published, 1e-3) &&
         same(figure.ours, listed.ours, kMargin);
}

}  // namespace

TEST_CASE("known misses are as many as counted, each with a reason, and none twice") {
  std::set<std::string> rows;
  for (const KnownMiss& miss : test::known_misses()) {
    INFO(miss.test << ", " << miss.row);
    CHECK(rows.insert(miss.test + "," + miss.row).second);
    CHECK_FALSE(miss.why.empty());
  }
  CHECK(test::known_misses().size() == kCount);
}

TEST_CASE("every known miss is looked at by a test") {
  std::string sources;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cpp") sources += text_of(entry.path());
  }
  for (const KnownMiss& miss : test::known_misses()) {
    INFO(miss.test);
    CHECK(sources.find('"' + miss.test + '"') != std::string::npos);
  }
}

TEST_CASE("a figure is met or listed as it is: what is not listed, met meanwhile, worse or better is said") {
  const Figure met = Figure::within("a", 2.0, 2.2, 0.11), missed = Figure::within("a", 2.0, 3.0, 0.1);
  const KnownMiss listed{"t", "a", 2.0, "within 10 %", 3.01, "why"};
  KnownMiss worse = listed, better = listed, other_rule = listed;
  worse.ours = 2.9, better.ours = 3.2, other_rule.rule = "within 20 %";
  CHECK(complaint_about("t", met, nullptr).empty());
  CHECK(complaint_about("t", missed, &listed).empty());
  CHECK_THAT(complaint_about("t", met, &listed), ContainsSubstring("is met: take its line out"));
  CHECK_THAT(complaint_about("t", missed, nullptr),
             ContainsSubstring("is missed and not in known_misses.csv: t,a,2,within 10 %,3,"));
  for (const KnownMiss& line : {worse, better, other_rule})
    CHECK_THAT(complaint_about("t", missed, &line), ContainsSubstring("is not as listed"));
  CHECK(Figure::at_most("a", 0.45, 0.45).is_met());
  CHECK_FALSE(Figure::at_most("a", 0.45, 0.46).is_met());
}

TEST_CASE("a figure that is no number is missed") {
  CHECK_FALSE(Figure::within("a", 1, std::nan(""), 0.1).is_met());
  CHECK_FALSE(Figure::at_most("a", 1, std::nan("")).is_met());
}

}  // namespace known_misses

namespace foretrain::test {

bool Figure::is_met() const {
  if (rule == Rule::at_most) return ours <= published;
  return std::abs(ours / published - 1) <= tolerance;
}

std::string Figure::rule_text() const {
  return rule == Rule::at_most ? "at most" : fmt::format("within {:g} %", 100 * tolerance);
}

const std::vector<KnownMiss>& known_misses() {
  static const std::vector<KnownMiss> list =
      ::known_misses::read_list(::known_misses::text_of(::known_misses::kFolder / "known_misses.csv"));
  return list;
}

std::string complaint_about(const std::string& test, const Figure& figure, const KnownMiss* listed) {
  const std::string line = ::known_misses::line_of(test, figure, listed == nullptr ? "" : listed->why);
  if (figure.is_met())
    return listed == nullptr ? "" : fmt::format("is met: take its line out of known_misses.csv: {}", line);
  if (listed == nullptr) return fmt::format("is missed and not in known_misses.csv: {}", line);
  if (::known_misses::is_as_listed(figure, *listed)) return "";
  return fmt::format("is not as listed in known_misses.csv, where {} stands: {}", listed->ours, line);
}

void check_figures(const std::string& test, const std::vector<Figure>& figures) {
  std::set<std::string> seen;
  for (const Figure& figure : figures) {
    const auto at = std::ranges::find_if(
        known_misses(), [&](const KnownMiss& m) { return m.test == test && m.row == figure.row; });
    const std::string complaint = complaint_about(test, figure, at == known_misses().end() ? nullptr : &*at);
    INFO(test << ", " << figure.row << ": published " << figure.published << ", ours " << figure.ours << ", "
              << figure.rule_text());
    CHECK(complaint == "");
    CHECK(seen.insert(figure.row).second);
  }
  for (const KnownMiss& miss : known_misses()) {
    INFO(miss.test << ", " << miss.row << ": no such figure");
    if (miss.test == test) CHECK(seen.contains(miss.row));
  }
}

}  // namespace foretrain::test
