// No verdict contradicts the table it stands above: over scenarios drawn from the catalogs.
#include <algorithm>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/prediction/headline.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "tests/support/catalog_scenarios.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace verdict_laws {

using namespace foretrain;
using test::catalog_scenario;
using test::Random;

namespace {

bool lies_in(const std::vector<GpuRange>& ranges, int gpus) {
  return std::ranges::any_of(ranges, [gpus](const GpuRange& r) { return r.first <= gpus && gpus <= r.last; });
}

/// What a prediction says against its own table.
class PredictionCheck {
 public:
  explicit PredictionCheck(const Prediction& p) : p_(p), headline_(headline(p)) {
    fits();
    if (p_.cannot_run) return;
    for (const PredictionPoint& point : p_.points) {
      if (point.fits()) one(point);
    }
    said_slower();
  }
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  void expect(bool holds, const std::string& what) {
    if (!holds) wrong_.push_back(what + " (" + headline_ + ")");
  }

  void fits() {
    const bool none = std::ranges::none_of(p_.points, [](const PredictionPoint& q) { return q.fits(); });
    expect(!none || p_.cannot_run, "nothing listed fits, yet it can run");
    expect(headline_.starts_with("This cannot run") == p_.cannot_run, "the headline knows whether it runs");
    const auto warned = [](const std::string& text) {
      return text.find("are needed per GPU") != std::string::npos;
    };
    const bool all = std::ranges::all_of(p_.points, [](const PredictionPoint& q) { return q.fits(); });
    expect(all != std::ranges::any_of(p_.warnings, warned), "memory that does not suffice is a warning");
  }

  void one(const PredictionPoint& q) {
    const Crossover& c = p_.crossover;
    const std::string on = " on " + std::to_string(q.gpus);
    const auto fastest = std::ranges::find(p_.points, c.fastest_gpus, &PredictionPoint::gpus);
    if (fastest != p_.points.end())
      expect(q.samples_per_s <= kNoticeable * fastest->samples_per_s * (1 + 1e-9),
             "faster than the fastest" + on);
    if (q.gpus > 1)
      expect(lies_in(c.slower_than_one_gpu, q.gpus) == (q.speedup < kSlower), "slower than one GPU" + on);
    for (const WorthRequesting& w : c.worth_requesting) {
      const bool is_worth = q.efficiency >= w.efficiency;
      expect(!is_worth || q.gpus <= w.most, "worth requesting, but beyond the most" + on);
      expect(is_worth || q.gpus > w.every_up_to || q.efficiency > w.efficiency - 1e-9,
             "every number is worth" + on);
    }
  }

  void said_slower() {
    const bool is_there = std::ranges::any_of(
        p_.points, [](const PredictionPoint& q) { return q.gpus > 1 && q.fits() && q.speedup < kSlower; });
    expect(is_there == (headline_.find("slower than one") != std::string::npos),
           "the headline knows what is slower");
  }

  const Prediction& p_;
  std::string headline_;
  std::vector<std::string> wrong_;
};

void check_comparison(const Comparison& c) {
  for (const ComparedGpus& numbers : c.numbers) {
    INFO(comparison_verdict(numbers, c.own_strategy));
    CHECK(std::ranges::is_sorted(numbers.strategies, {}, &ComparedStrategy::standing));
    const ComparedStrategy* fastest = numbers.best();
    if (fastest == nullptr) continue;
    for (const ComparedStrategy& row : numbers.strategies) {
      INFO(row.strategy);
      if (row.standing <= Standing::slower) {
        CHECK(row.point.fits());
        CHECK(row.point.samples_per_s <= fastest->point.samples_per_s);
      }
      if (row.standing == Standing::as_fast) CHECK(row.ratio >= 0.98);
      if (row.standing == Standing::slower) CHECK(row.ratio_range.high < 1);
      if (row.why_not.empty()) {
        CHECK(row.ratio_range.low <= row.ratio);
        CHECK(row.ratio <= row.ratio_range.high);
      }
    }
    const std::string verdict = comparison_verdict(numbers, c.own_strategy);
    if (verdict.find(" is the fastest.") != std::string::npos ||
        verdict.find(" is the fastest, ") != std::string::npos) {
      for (const ComparedStrategy& row : numbers.strategies)
        CHECK((!row.why_not.empty() || !row.point.fits() || row.ratio <= 1));
    }
    const bool says_stay = verdict.find("no reason to switch") != std::string::npos;
    if (says_stay) CHECK(numbers.first()->strategy == c.own_strategy);
  }
}

}  // namespace

TEST_CASE("law: no verdict of 2,000 predictions of the catalogs contradicts its own table") {
  test::use_source_catalogs();
  Random random(17);
  OpenedCatalogs opened;
  int runs = 0;
  for (int i = 0; i < 2000; ++i) {
    const Scenario scenario = catalog_scenario(random, opened);
    INFO(scenario.model.name << " on " << scenario.cluster.name << " with " << scenario.strategy << ", batch "
                             << scenario.workload.batch_per_gpu);
    const Prediction p = predict(scenario);
    const PredictionCheck check(p);
    for (const std::string& wrong : check.wrong()) FAIL_CHECK(wrong);
    runs += p.cannot_run ? 0 : 1;
  }
  CHECK(runs > 1000);
  CHECK(runs < 2000);
}

TEST_CASE("law: comparisons of the catalogs stand as their figures do") {
  test::use_source_catalogs();
  Random random(18);
  OpenedCatalogs opened;
  for (int i = 0; i < 60; ++i) {
    ScenarioOverrides overrides;
    catalog_scenario(random, opened, &overrides);
    INFO(overrides.model << " on " << overrides.cluster << " with " << overrides.strategy);
    try {
      check_comparison(compare(
          read_compared({}, overrides, i % 3 == 0 ? strategies_named({"all"}) : std::vector<std::string>{})));
    } catch (const InputError&) {
      // None of them runs there.
    }
  }
}

}  // namespace verdict_laws
