// One row of call_costs.inc is a cost, a constant of calibrations and a line of the reference page.
#include "sim/strategy/process/call_costs.hpp"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "sim/scenario/calibration/calibration_constants.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace call_costs_test {

using namespace foretrain;

namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(FORETRAIN_SOURCE_DIR) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The members, as the rows of the file name them.
std::set<std::string> rows() {
  const std::string text = text_of("sim/strategy/process/call_costs.inc");
  const std::regex row("(?:^|\n)CALL_COST\\((\\w+), ");
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), row), end; i != end; ++i)
    names.insert("call." + (*i)[1].str());
  return names;
}

}  // namespace

TEST_CASE(
    "every row of the table is a constant of calibrations and stands on the reference page, and nothing else "
    "does") {
  std::set<std::string> constants;
  for (const ConstantOf<CallCosts>& row : call_constants()) constants.insert(row.range.name);
  CHECK(constants.size() > 40);
  CHECK(constants == rows());
  const std::vector<ConstantRange> known = calibratable_constants();
  const std::string page = text_of("docs/reference/constants.md");
  for (const std::string& name : rows()) {
    INFO(name);
    CHECK(find_constant(known, name) != nullptr);
    CHECK(page.find("| `" + name + "` |") != std::string::npos);
  }
}

TEST_CASE("every cost lies in its range, and says what it is and where it comes from") {
  for (const auto& [range, get, set] : call_constants()) {
    INFO(range.name);
    CHECK(get({}) > range.least);
    CHECK(get({}) < range.most);
    CHECK_FALSE(range.meaning.empty());
    CHECK_FALSE(range.source.empty());
    CallCosts other;
    set(other, 0.001);
    CHECK(get(other) == 0.001);
  }
}

TEST_CASE(
    "a cost that a cluster measured replaces that of the table, in the steps that make the call and in no "
    "others") {
  const auto step_with = [](const char* strategy, const std::string& constant) {
    test::SmallPlan small;
    small.gpus = 4;
    small.spec.node.host.slowdown = 20;  // the host is what the GPU waits for
    if (!constant.empty()) small.spec.calibration.constants = {{constant, 0.001, 0, 0, 0, 0, 0}};
    return test::run_plan(small, strategy).last_step_s();
  };
  CHECK(step_with("horovod", "call.horovod_hook") > 1.5 * step_with("horovod", ""));
  CHECK(step_with("ddp", "call.horovod_hook") == step_with("ddp", ""));
  CHECK(step_with("ddp", "call.zero_grad") > step_with("ddp", ""));
}

}  // namespace call_costs_test
