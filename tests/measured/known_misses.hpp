// Published figures beside ours, with the tolerance that a test states, and the one list of those that are
// not met.
#pragma once

#include <string>
#include <vector>

namespace foretrain::test {

/// What somebody published, or a goal that we set, and what the model says.
struct Figure {
  enum class Rule { within, at_most };

  std::string row;     ///< names it within its test
  double published{};  ///< the figure; of at_most the goal
  double ours{};
  Rule rule = Rule::within;
  double tolerance = 0;  ///< of within: |ours / published - 1| may be that much

  static Figure within(std::string row, double published, double ours, double tolerance) {
    return {std::move(row), published, ours, Rule::within, tolerance};
  }
  static Figure at_most(std::string row, double goal, double ours) {
    return {std::move(row), goal, ours, Rule::at_most, 0};
  }

  bool is_met() const;
  std::string rule_text() const;  ///< "within 15 %" or "at most", as the list has it
};

/// A line of known_misses.csv.
struct KnownMiss {
  std::string test, row;
  double published{};
  std::string rule;
  double ours{};
  std::string why;
};

/// All lines of tests/measured/known_misses.csv.
const std::vector<KnownMiss>& known_misses();

/// What is wrong with a figure and its line in the list (nullptr: it has none): a miss that is not listed, a
/// listed one that is met or is no longer as listed. Empty when nothing is.
std::string complaint_about(const std::string& test, const Figure& figure, const KnownMiss* listed);

/// Every figure is met or listed as it is, and no line of `test` is about anything else. `test` is of one
/// TEST_CASE alone.
void check_figures(const std::string& test, const std::vector<Figure>& figures);

}  // namespace foretrain::test
