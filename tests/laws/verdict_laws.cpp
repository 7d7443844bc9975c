// No verdict contradicts the table it stands above, and no recommendation a limit that was given: over
// scenarios drawn from the catalogs.
#include <algorithm>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/prediction/headline.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace verdict_laws {

using namespace foretrain;
using test::pick;
using test::Random;

namespace {

/// Networks whose steps simulate in a millisecond or two, from those that do not scale to those that do.
const std::vector<std::string>& networks() {
  static const std::vector<std::string> names{"mnist_net", "spiral_mlp",    "cifar_convnet_chtc",
                                              "alexnet",   "resnet18",      "resnet50",
                                              "vgg16",     "bert_base_s128"};
  return names;
}

const std::vector<std::string>& machines() {
  static const std::vector<std::string> names{"puhti",       "mahti",       "raven",
                                              "chtc-2080ti", "param-rudra", "chtc-p100-2",
                                              "dgx2",        "dgx-a100",    "jean-zay-v100"};
  return names;
}

/// A scenario of the catalogs on at most eight nodes, with limits of memory and of batches within reach.
Scenario drawn(Random& random, OpenedCatalogs& opened, ScenarioOverrides* asked = nullptr) {
  for (;;) {
    ScenarioOverrides overrides;
    overrides.model = pick(random, networks()), overrides.cluster = pick(random, machines());
    overrides.strategy = pick<std::string>(
        random, {"ddp", "ddp", "horovod", "data_parallel", "mirrored", "zero1", "zero3", "fsdp", "fsdp2"});
    overrides.batch = pick<std::int64_t>(random, {1, 8, 32, 128, 512, 4096});
    overrides.gpus =
        pick<std::vector<int>>(random, {{1, 2, 4}, {1, 4, 8, 16}, {2, 3, 5, 8}, {4}, {1, 2, 3, 4, 6, 7, 8}});
    overrides.settings = {"data.samples=128000", "run.epochs=3"};
    if (random() % 4 == 0) overrides.settings.emplace_back("model.global_batch=256"), overrides.batch.reset();
    try {
      Scenario scenario = make_scenario(overrides, opened);
      scenario.cluster.nodes = std::min(scenario.cluster.nodes, 8);
      const auto cannot = [&](int gpus) { return !why_not(scenario, gpus).empty(); };
      if (std::ranges::any_of(scenario.gpus, cannot)) continue;
      if (asked != nullptr) *asked = overrides;
      return scenario;
    } catch (const InputError&) {
      // Too many GPUs for this cluster or batch: another draw.
    }
  }
}

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

RecommendationRequest drawn_request(Random& random) {
  RecommendationRequest request;
  request.goal = pick<Goal>(random, {Goal::balanced, Goal::fastest, Goal::cheapest});
  if (random() % 2 == 0) request.most_gpus = pick<int>(random, {1, 2, 4, 8});
  if (random() % 3 == 0) request.most_nodes = pick<int>(random, {1, 2});
  if (random() % 3 == 0)
    request.only_gpus = pick<std::vector<int>>(random, {{1, 4}, {2, 8}, {4}, {1, 2, 3, 4}});
  if (random() % 2 == 0) request.deadline_s = pick<double>(random, {30, 300, 3600});
  if (random() % 3 == 0) request.budget_gpu_hours = pick<double>(random, {0.05, 0.5, 5});
  return request;
}

void check_recommendation(const Recommendation& r, const RecommendationRequest& asked,
                          const Scenario& scenario) {
  for (const JobOption& job : r.looked_at) {
    CHECK((asked.most_gpus == 0 || job.point.gpus <= asked.most_gpus));
    CHECK((asked.most_nodes == 0 || job.point.nodes <= asked.most_nodes));
    CHECK((asked.only_gpus.empty() || std::ranges::count(asked.only_gpus, job.point.gpus) == 1));
    CHECK(job.strategy == scenario.strategy);
  }
  CHECK(r.best.has_value() == r.why_none.empty());
  if (!r.best) return;
  std::vector<JobOption> proposed = r.runners_up;
  proposed.push_back(*r.best);
  for (const JobOption& job : proposed) {
    CHECK(job.point.fits());
    CHECK(job.point.steps_per_epoch > 0);
    if (asked.deadline_s) CHECK(job.point.total_interval.high_s <= *asked.deadline_s);
    if (asked.budget_gpu_hours) CHECK(job.gpu_hours <= *asked.budget_gpu_hours);
    CHECK(std::ranges::count(r.looked_at, job.point.gpus, [](const JobOption& o) { return o.point.gpus; }) ==
          1);
  }
}

}  // namespace

TEST_CASE("law: no verdict of 2,000 predictions of the catalogs contradicts its own table") {
  test::use_source_catalogs();
  Random random(17);
  OpenedCatalogs opened;
  int runs = 0;
  for (int i = 0; i < 2000; ++i) {
    const Scenario scenario = drawn(random, opened);
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
    drawn(random, opened, &overrides);
    INFO(overrides.model << " on " << overrides.cluster << " with " << overrides.strategy);
    try {
      check_comparison(compare(
          read_compared({}, overrides, i % 3 == 0 ? strategies_named({"all"}) : std::vector<std::string>{})));
    } catch (const InputError&) {
      // None of them runs there.
    }
  }
}

TEST_CASE("law: recommendations keep every limit that is given") {
  test::use_source_catalogs();
  Random random(19);
  OpenedCatalogs opened;
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const Scenario scenario = drawn(random, opened);
    const RecommendationRequest request = drawn_request(random);
    INFO(scenario.model.name << " on " << scenario.cluster.name << " with " << scenario.strategy << ", batch "
                             << scenario.workload.batch_per_gpu);
    const Recommendation r = recommend({scenario, {}}, request);
    check_recommendation(r, request, scenario);
    found += r.best ? 1 : 0;
  }
  CHECK(found > 100);
}

}  // namespace verdict_laws
