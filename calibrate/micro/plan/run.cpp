// A point's seconds are its family's share over the points still to come, within limits: a long budget makes
// every point surer.
#include "calibrate/micro/plan/run.hpp"

#include <algorithm>
#include <unordered_set>

#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

constexpr double kShortestPoint = 0.05, kLongestPoint = 2;
constexpr int kPasses = 2;
constexpr double kSecondsBetweenSaves = 1;  ///< what a killed run may lose
constexpr int kMostFailures = 3;            ///< in a row: then a family's other points are given up

/// After an error NCCL's groups stay open and its kernels may spin on, beside whatever came next.
bool uses_nccl(const Family& family) {
  return std::find(family.needs.begin(), family.needs.end(), Need::nccl) != family.needs.end();
}

class Runner {
 public:
  Runner(std::vector<Sample>& samples, const TimeBudget& budget, const RunHooks& hooks)
      : samples_(samples), budget_(budget), hooks_(hooks) {}

  /// Measures from the front of `run.points` until the share is used; those measured are taken out.
  void measure_family(FamilyRun& run, double share) {
    const double end = budget_.now() + share;
    std::size_t next = 0;
    const std::size_t points = run.points.size();
    while (next < points && hooks_.agree(budget_.now() < end)) {
      const double each = (end - budget_.now()) / static_cast<double>(points - next);
      RepeatRule rule;
      rule.seconds = std::clamp(each, kShortestPoint, kLongestPoint);
      if (!measure_or_fail(run, run.points[next++], rule)) next = points;
      if (hooks_.progress)
        hooks_.progress(run.family->name(), static_cast<int>(next), static_cast<int>(points));
      if (budget_.now() - saved_at_ >= kSecondsBetweenSaves) save();
    }
    run.points.erase(run.points.begin(), run.points.begin() + static_cast<std::ptrdiff_t>(next));
    if (next > 0) save();
  }

  RunReport take() { return std::move(report_); }

 private:
  void save() {
    if (hooks_.save) hooks_.save();
    saved_at_ = budget_.now();
  }

  /// False when the family's other points are given up.
  bool measure_or_fail(const FamilyRun& run, const Point& point, const RepeatRule& rule) {
    try {
      measure_point(run, point, rule);
      failures_ = 0;
      return true;
    } catch (const EnvironmentError& why) {
      save();
      if (uses_nccl(*run.family) || !hooks_.still_works || !hooks_.still_works()) throw;
      const std::string family(run.family->name());
      const bool is_first = std::none_of(report_.failed.begin(), report_.failed.end(),
                                         [&](const Exclusion& one) { return one.point == family; });
      if (is_first) report_.failed.push_back({family, why.what()});
      const bool goes_on = ++failures_ < kMostFailures;
      if (!goes_on) failures_ = 0;
      return goes_on;
    }
  }

  void measure_point(const FamilyRun& run, const Point& point, const RepeatRule& rule) {
    if (hooks_.begin) hooks_.begin(point);
    try {
      samples_.push_back(sample_of(point, run.measure(point, rule)));
      ++report_.measured;
    } catch (const PointSkipped& why) {
      report_.skipped.push_back({key_of(point.sample), why.what()});
    } catch (const WrongResult& why) {
      report_.wrong.push_back({key_of(point.sample), why.what()});
    }
  }

  std::vector<Sample>& samples_;
  const TimeBudget& budget_;
  const RunHooks& hooks_;
  RunReport report_;
  double saved_at_ = budget_.now();
  int failures_ = 0;  ///< of the family's last points
};

std::unordered_set<std::string> keys_of(const std::vector<Sample>& samples) {
  std::unordered_set<std::string> keys;
  for (const Sample& sample : samples) keys.insert(key_of(sample));
  return keys;
}

}  // namespace

RunReport measure_families(std::vector<FamilyRun> runs, std::vector<Sample>& samples,
                           const TimeBudget& budget, const RunHooks& hooks) {
  Runner runner(samples, budget, hooks);
  for (int pass = 0; pass < kPasses; ++pass) {
    double weights = 0;
    for (const FamilyRun& run : runs) weights += run.points.empty() ? 0 : run.family->weight;
    for (FamilyRun& run : runs) {
      if (run.points.empty()) continue;
      const double weight = run.family->weight;
      runner.measure_family(run, budget.share(weight, weights));
      weights -= weight;
    }
  }
  RunReport report = runner.take();
  for (const FamilyRun& run : runs) report.out_of_time += static_cast<int>(run.points.size());
  return report;
}

void drop_known(std::vector<Point>& points, const std::vector<Sample>& known) {
  const auto keys = keys_of(known);
  std::erase_if(points, [&](const Point& point) { return keys.count(key_of(point.sample)) > 0; });
}

void keep_wanted(std::vector<Point>& points, const std::vector<Sample>& wanted) {
  const auto keys = keys_of(wanted);
  std::erase_if(points, [&](const Point& point) { return keys.count(key_of(point.sample)) == 0; });
}

}  // namespace foretrain::micro
