// A point may take what its repeat rule says; most points are sure of their median long before.
#include "calibrate/micro/plan/dry_run.hpp"

#include <map>

#include <fmt/format.h>

namespace foretrain::micro {

namespace {

struct Total {
  int points = 0;
  double seconds = 0;
};

std::string counted_points(int points) {
  return fmt::format("{} {}", points, points == 1 ? "point" : "points");
}

}  // namespace

std::string dry_run_text(std::vector<FamilyRun> runs, double budget_s) {
  double clock = 0;
  std::string text;
  std::map<std::string, Total> totals;
  std::vector<std::string> order;
  for (FamilyRun& run : runs) {
    const std::string family(run.family->name());
    order.push_back(family);
    run.measure = [&, family](const Point& point, const RepeatRule& rule) {
      clock += rule.seconds;
      ++totals[family].points, totals[family].seconds += rule.seconds;
      text += fmt::format("{:6.2f} s  {}\n", rule.seconds, key_of(point.sample));
      return Measured{{1, 0, 1}, {}};
    };
  }
  std::vector<Sample> samples;
  const TimeBudget budget(budget_s, [&] { return clock; });
  const RunReport report = measure_families(std::move(runs), samples, budget, {});
  for (const std::string& family : order)
    text += fmt::format("{}: {}, up to {:.1f} s\n", family, counted_points(totals[family].points),
                        totals[family].seconds);
  text += fmt::format(
      "{} in up to {:.1f} s; most points end sooner, once their median is sure. Nothing was measured.\n",
      counted_points(report.measured), clock);
  if (report.out_of_time > 0)
    text += fmt::format("{} left for a longer --budget\n", counted_points(report.out_of_time));
  return text;
}

}  // namespace foretrain::micro
