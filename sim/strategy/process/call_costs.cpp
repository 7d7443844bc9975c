// The rows of call_costs.inc, as calibrations and the reference page read them.
#include "sim/strategy/process/call_costs.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace foretrain {

namespace {

/// Limits of a call's duration in s: no call takes less than 10 ns or more than 10 ms.
constexpr double kShortestCall = 1e-8, kLongestCall = 1e-2;
/// Prior standard deviation of a cost's logarithm. Unverified and assumed costs are known to about a factor
/// of two.
constexpr double kCallPrior = 0.6;

/// Makes the calibration's constant of one call from its row of the table.
template <Time CallCosts::*Member>
ConstantOf<CallCosts> call_cost(std::string_view member, std::string meaning, std::string source) {
  return {{"call." + std::string(member), Dimension::time, kShortestCall, kLongestCall, kCallPrior,
           std::move(meaning), std::move(source)},
          [](const CallCosts& costs) { return to_seconds(costs.*Member); },
          [](CallCosts& costs, double value) { costs.*Member = seconds(value); }};
}

}  // namespace

const std::vector<ConstantOf<CallCosts>>& call_constants() {
  static const std::vector<ConstantOf<CallCosts>> rows{
#define CALL_COST(member, value, meaning, source) call_cost<&CallCosts::member>(#member, meaning, source),
#include "sim/strategy/process/call_costs.inc"
#undef CALL_COST
  };
  return rows;
}

CallCosts calls_of(const ClusterSpec& cluster) {
  CallCosts calls;
  apply(cluster.calibration, call_constants(), calls);
  return calls;
}

}  // namespace foretrain
