// Intervals and the tornado for people: what is certain, what is left out, where bars begin and end.
#include <algorithm>
#include <sstream>

#include "sim/report/prediction/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"
#include "tests/support/example_recommendation.hpp"

namespace interval_table_test {

using namespace foretrain;

namespace {

Prediction on_eight(double chance_of_gain) {
  Prediction p = test::example_prediction();
  p.points.erase(p.points.begin());
  p.points[0].total_interval = {45'000, 70'200, 0.9};
  p.points[0].speedup_range = {5.5, 7.25};
  p.points[0].chance_of_gain = chance_of_gain;
  return p;
}

std::string bar_of(const Sensitivity& s, const std::string& input) {
  std::istringstream lines(write_sensitivity(s));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_of("=|");
    if (line.find(input) != std::string::npos && begin != std::string::npos)
      return line.substr(begin, line.find_last_of("=|") - begin + 1);
  }
  return "";
}

}  // namespace

TEST_CASE("a line has the intervals of step, total and speedup") {
  const std::string text = write_intervals(on_eight(0.42));
  CHECK_THAT(text, ContainsSubstring("100 ms .. 156 ms") && ContainsSubstring("12 h 30 min .. 19 h 30 min"));
  CHECK_THAT(text, ContainsSubstring(" 5.50 .. 7.25 ") && ContainsSubstring(" 42 %\n"));
}

TEST_CASE("certainty is never claimed") {
  CHECK_THAT(write_intervals(on_eight(1)), ContainsSubstring(" > 99 %\n"));
  CHECK_THAT(write_intervals(on_eight(0)), ContainsSubstring(" < 1 %\n"));
}

TEST_CASE("one GPU is not compared with itself, and a total of unknown samples is left out") {
  Prediction p = test::example_prediction();
  p.points.pop_back();
  CHECK_THAT(write_intervals(p), ContainsSubstring("                1                -\n"));
  Prediction unknown = on_eight(0.42);
  for (PredictionPoint& point : unknown.points) point.knows_epochs = false;
  CHECK_THAT(write_intervals(unknown), ContainsSubstring("                          -     5.50"));
}

TEST_CASE("a sensitivity of a step is called so") {
  Sensitivity s = test::example_sensitivity();
  CHECK_THAT(write_sensitivity(s), ContainsSubstring("What the total on "));
  s.is_of_step = true;
  CHECK_THAT(write_sensitivity(s), ContainsSubstring("What a step on "));
}

TEST_CASE("bars share one scale and mark the prediction") {
  // From 38,000 to 54,000 s in 32 columns; 45,000 is at 31 x 7/16 = 13.6, 43,000 at 9.7, 48,000 at 19.4.
  const Sensitivity s = test::example_sensitivity();
  CHECK(bar_of(s, "kernel times") == "==============|=================");
  CHECK(bar_of(s, "network bandwidth") == "====|=====");
}

TEST_CASE("an input that does nothing is a bar of one mark") {
  Sensitivity s = test::example_sensitivity();
  s.bars = {{"nothing", "assumed", 45'000, 45'000, 0}};
  CHECK(bar_of(s, "nothing") == "|");
  s.narrowed.clear();
  CHECK(write_sensitivity(s).find("What to measure") == std::string::npos);
}

}  // namespace interval_table_test
