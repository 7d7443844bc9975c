// Strategies of one setting are ordered as `compare` orders them: the fastest first, unless DDP is within 2
// %.
#include "sim/analysis/validation/strategy_choices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sim/analysis/search/strategy_order.hpp"

namespace foretrain {

namespace {

/// Generous limit of the difference between two runs of one job.
constexpr double kNear = 0.05;

/// The columns that rows of one setting share.
using Setting =
    std::tuple<std::string, std::string, std::string, std::int64_t, int, int, Measurement::Metric>;

/// Mean speeds of one strategy at one setting.
struct Speeds {
  double measured = 0, predicted = 0;
  int rows = 0;
};

/// The strategies of one setting, by name.
using Contest = std::map<std::string, Speeds>;

/// Returns the settings with at least two strategies. Times are inverted, so that larger is better
/// everywhere.
std::map<Setting, Contest> contests_of(const Validation& validation) {
  std::map<Setting, Contest> contests;
  for (const ValidatedSeries& series : validation.series) {
    for (const ValidatedPoint& p : series.points) {
      const ValidatedRow& row = p.row;
      if (row.metric == Measurement::Metric::rate) continue;
      Speeds& speeds = contests[{row.model, row.cluster, row.precision, row.batch_per_gpu, p.gpus, row.nodes,
                                 row.metric}][row.strategy];
      const bool is_time = row.metric != Measurement::Metric::samples_per_s;
      speeds.measured += is_time ? 1 / p.measured : p.measured;
      speeds.predicted += is_time ? 1 / p.predicted : p.predicted;
      ++speeds.rows;
    }
  }
  std::erase_if(contests, [](const auto& contest) { return contest.second.size() < 2; });
  for (auto& [setting, contest] : contests) {
    for (auto& [name, speeds] : contest) speeds.measured /= speeds.rows, speeds.predicted /= speeds.rows;
  }
  return contests;
}

/// Returns the fastest strategy by measured or predicted speed.
const Speeds& fastest(const Contest& contest, double Speeds::*kind) {
  return std::ranges::max_element(contest, {}, [kind](const auto& entry) { return entry.second.*kind; })
      ->second;
}

/// Adds one setting to the counts.
void count(const Contest& contest, StrategyChoices& choices) {
  const Speeds& measured = fastest(contest, &Speeds::measured);
  const Speeds& predicted = fastest(contest, &Speeds::predicted);
  const auto is_tied = [&](const Speeds& s) {
    return s.predicted >= (1 - kWorthSwitching) * predicted.predicted;
  };
  const auto is_right = [&](const Speeds& s) {
    return s.measured >= (1 - kWorthSwitching) * measured.measured;
  };
  const auto ddp = contest.find("ddp");
  const Speeds& first = ddp != contest.end() && is_tied(ddp->second) ? ddp->second : predicted;
  ++choices.settings;
  choices.first_right += is_right(first) ? 1 : 0;
  choices.fastest_right += is_right(predicted) ? 1 : 0;
  for (const auto& [name, speeds] : contest) {
    if (&speeds == &predicted) continue;
    const double difference = speeds.measured / predicted.measured - 1;
    if (is_tied(speeds)) {
      ++choices.tied;
      choices.tied_right += std::abs(difference) <= kWorthSwitching ? 1 : 0;
      choices.tied_near += std::abs(difference) <= kNear ? 1 : 0;
    } else {
      ++choices.slower;
      choices.slower_right += difference < 0 ? 1 : 0;
    }
  }
}

}  // namespace

StrategyChoices strategy_choices(const Validation& validation) {
  StrategyChoices choices;
  for (const auto& [setting, contest] : contests_of(validation)) count(contest, choices);
  return choices;
}

}  // namespace foretrain
