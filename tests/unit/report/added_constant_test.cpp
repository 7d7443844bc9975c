// One row more in a table of constants: files of calibrations may state it, the writer knows its unit, a
// cluster's value takes its default's place. Nothing but the row is added.
#include <vector>

#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/process/losses.hpp"
#include "tests/support/catch.hpp"

namespace added_constant_test {

using namespace foretrain;

namespace {

/// The costs of the product, as their one table makes them members, and one of a strategy to come.
struct MoreCosts {
#define CALL_COST(member, value, meaning, source) Time member = microseconds(value);
#include "sim/strategy/process/call_costs.inc"
  CALL_COST(nap, 7, "a strategy's thread lies down between two messages", "assumed")
#undef CALL_COST
};

/// A loss of GPUs to come.
struct MoreLosses : Losses {
  double warm_room = 0.03;
};

const ConstantOf<MoreCosts>& nap() {
  static const ConstantOf<MoreCosts> row{
      {"call.nap", Dimension::time, 1e-8, 1e-2, 0.6, "a strategy's thread lies down", "assumed"},
      [](const MoreCosts& costs) { return to_seconds(costs.nap); },
      [](MoreCosts& costs, double value) { costs.nap = seconds(value); }};
  return row;
}

const ConstantOf<MoreLosses>& warm_room() {
  static const ConstantOf<MoreLosses> row{
      {"loss.warm_room", std::nullopt, 1e-5, 1, 0.7, "by how much kernels are slower in a warm room"},
      [](const MoreLosses& losses) { return losses.warm_room; },
      [](MoreLosses& losses, double value) { losses.warm_room = value; }};
  return row;
}

std::vector<ConstantRange> known_with_them() {
  std::vector<ConstantRange> known = calibratable_constants();
  known.push_back(nap().range), known.push_back(warm_room().range);
  return known;
}

constexpr const char* kFile = R"([constants."call.nap"]
value = "3 us"
spread = 0.1

[constants."loss.warm_room"]
value = 0.02
spread = 0.2
)";

/// With what is wrong with it as text.
std::pair<Calibration, std::string> read(const std::vector<ConstantRange>& known, const std::string& text) {
  const SourceText source{"ours.toml", text};
  Diagnostics diagnostics(source);
  Calibration calibration = read_calibration(source, diagnostics, known);
  return {calibration, format(diagnostics.found())};
}

}  // namespace

TEST_CASE(
    "a cost and a loss that have a row are read from calibrations, and those that have none are mistakes") {
  const auto [calibration, mistakes] = read(known_with_them(), kFile);
  CHECK(mistakes.empty());
  REQUIRE(calibration.find("call.nap") != nullptr);
  CHECK(calibration.find("call.nap")->value == Approx(3e-6));
  const auto [none, why] = read(calibratable_constants(), kFile);
  CHECK_THAT(why, ContainsSubstring("call.nap") && ContainsSubstring("loss.warm_room"));
  CHECK(none.find("call.nap") == nullptr);
}

TEST_CASE("the range of a row that was added is that of its values in files") {
  std::string too_long = kFile;
  too_long.replace(too_long.find("3 us"), 4, "3 s");
  CHECK_FALSE(read(known_with_them(), too_long).second.empty());
}

TEST_CASE("a row that was added takes a cluster's value to where it is used") {
  const Calibration calibration = read(known_with_them(), kFile).first;
  MoreCosts costs;
  apply(calibration, std::vector{nap()}, costs);
  CHECK(costs.nap == microseconds(3));
  CHECK(costs.tensor == CallCosts{}.tensor);
  MoreLosses losses;
  apply(calibration, std::vector{warm_room()}, losses);
  CHECK(losses.warm_room == 0.02);
  CHECK(losses.rank_spread == Losses{}.rank_spread);
}

TEST_CASE(
    "a row that was added is written in its unit, and stands in the table of a fit beside its default") {
  const Calibration calibration = read(known_with_them(), kFile).first;
  const std::string text = write_calibration(calibration, known_with_them());
  CHECK_THAT(text, ContainsSubstring("\"3 us\""));
  CHECK(read(known_with_them(), text).first.constants ==
        as_written(calibration, known_with_them()).constants);
  CalibrationFit fit;
  fit.calibration = calibration, fit.defaults = {7e-6, 0.03};
  const std::string table = write_calibration_table(fit, {known_with_them(), 0});
  CHECK_THAT(table, ContainsSubstring("call.nap") && ContainsSubstring("3 us") && ContainsSubstring("7 us"));
  CHECK_THAT(table, ContainsSubstring("loss.warm_room"));
}

}  // namespace added_constant_test
