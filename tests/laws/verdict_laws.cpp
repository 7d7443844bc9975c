// No verdict contradicts the table it stands above: over scenarios drawn from the catalogs.
#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/base/ascii.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
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
  explicit PredictionCheck(const Prediction& p) : p_(p), headline_(p.answer.verdict) {
    fits();
    names_rows_only();
    causes();
    is_credible();
    is_said_everywhere();
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
    if (p_.cannot_run)
      expect(p_.answer.kind == VerdictKind::does_not_fit, "the verdict knows whether it runs");
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

  /// The verdict is about a row, and so is every number of GPUs that it names.
  void names_rows_only() {
    const std::vector<int>& counts = p_.answer.counts;
    const std::regex named("([0-9]+) GPU");
    for (std::sregex_iterator at(headline_.begin(), headline_.end(), named), end; at != end; ++at)
      expect(std::ranges::find(counts, std::stoi((*at)[1])) != counts.end(), "a number that is no row");
    expect(std::ranges::find(counts, p_.answer.gpus) != counts.end(), "the answer is about no row");
    expect(p_.answer.rows.size() == counts.size(), "as many rows as numbers");
  }

  void said_slower() {
    const auto own = std::ranges::find(p_.answer.rows, p_.answer.gpus, &PredictionPoint::gpus);
    const bool is_there = std::ranges::any_of(p_.answer.rows, [&](const PredictionPoint& q) {
      return q.gpus < own->gpus && q.fits() && own->samples_per_s < kSlower * q.samples_per_s;
    });
    if (p_.answer.kind == VerdictKind::time) expect(!is_there, "the verdict knows what is slower");
    if (p_.answer.kind == VerdictKind::slower) expect(is_there, "slower than what");
  }

  /// What is named first saves most; the parts of the step are no more than the step.
  void causes() {
    if (!p_.answer.causes) return;
    const StepCauses& c = *p_.answer.causes;
    double sum = c.kernels_s;
    for (const CausePart& part : c.in_turn) sum += part.seconds;
    expect(std::abs(sum - c.step_s) <= 1e-9 * c.step_s, "the parts sum to the step");
    for (const StepCause& cause : c.alone) {
      expect(cause.saves_s <= c.alone.front().saves_s, "the first cause saves most");
      expect(cause.saves_s >= 0 && cause.saves_s <= c.step_s, "no part is larger than the step");
    }
    if (const StepCause* most = c.largest())
      expect(lower_case(p_.answer.cause).starts_with(lower_case(most->name)), "the sentence names the first");
  }

  /// Terminal, JSON and CSV say one verdict; pages and Python show that of the JSON.
  void is_said_everywhere() {
    const auto words = [](std::string text) {
      std::ranges::replace(text, '\n', ' ');
      return text;
    };
    expect(words(write_answer(p_)).starts_with(headline_), "the terminal says the verdict");
    expect(write_csv(p_, {}).find(csv_field(headline_)) != std::string::npos, "the CSV says the verdict");
    const nlohmann::json json = nlohmann::json::parse(write_json(p_, {}));
    expect(json["headline"] == headline_ && json["answer"]["verdict"] == headline_,
           "the JSON says the verdict");
    expect(json["answer"]["cause"] == p_.answer.cause, "the JSON says the cause");
  }

  void is_credible() {
    expect(p_.answer.not_credible.empty(), "a figure breaks a law of physics");
    expect(std::ranges::count(write_answer(p_), '\n') <= std::ptrdiff_t{kAnswerLines},
           "no more than 24 lines");
  }

  const Prediction& p_;
  std::string headline_;
  std::vector<std::string> wrong_;
};

/// The JSON of a door says the answer, and its text begins with the verdict or has it as a line.
void check_said(const Answer& answer, const nlohmann::json& json, const std::string& text) {
  const auto words = [](std::string all) {
    std::ranges::replace(all, '\n', ' ');
    return all;
  };
  CHECK_FALSE(answer.verdict.empty());
  CHECK_FALSE(answer.action.empty());
  CHECK(words(text).find(answer.verdict) != std::string::npos);
  CHECK(json["verdict"] == answer.verdict);
  CHECK(json["cause"] == answer.cause);
  CHECK(json["action"] == answer.action);
  CHECK(json["kind"] == key_of(answer.kind));
  CHECK(answer.not_credible.empty());
  CHECK(std::ranges::find(answer.counts, answer.gpus) != answer.counts.end());
  if (!answer.causes) return;
  double sum = answer.causes->kernels_s;
  for (const CausePart& part : answer.causes->in_turn) sum += part.seconds;
  CHECK(std::abs(sum - answer.causes->step_s) <= 1e-9 * answer.causes->step_s);
  for (const StepCause& cause : answer.causes->alone)
    CHECK(cause.saves_s <= answer.causes->alone.front().saves_s);
}

void check_comparison(const Comparison& c) {
  const nlohmann::json json = nlohmann::json::parse(write_comparison_json(c, {}));
  for (std::size_t i = 0; i < c.numbers.size(); ++i) {
    check_said(c.numbers[i].answer, json["points"][i]["answer"], write_comparison_table(c, {}));
    CHECK(json["points"][i]["verdict"] == c.numbers[i].answer.verdict);
  }
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

TEST_CASE("law: plans say one answer in every output, and about a layout that their table has") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  for (const char* model : {"llama3_2_1b", "llama3_8b", "llama3_70b"}) {
    for (const char* cluster : {"mahti", "hgx-h100-400g"}) {
      const Scenario scenario = read_scenario(
          {"s.toml", fmt::format("[model]\nname = \"{}\"\n[cluster]\nname = \"{}\"\n[parallel]\n"
                                 "sequence_parallel = true\n",
                                 model, cluster)},
          {}, opened);
      for (const std::vector<int>& numbers : {std::vector{8}, std::vector{2, 8, 16}}) {
        INFO(model << " on " << cluster);
        PlannedCounts plan = plan_counts(scenario, numbers, {.global_batch = 32});
        plan.answer = answer_of(scenario, plan);
        check_said(plan.answer, nlohmann::json::parse(write_plan_json(plan, {}))["answer"],
                   write_plan_table(plan, {}));
        CHECK((plan.answer.kind == VerdictKind::does_not_fit) == !plan.best.has_value());
        if (!plan.best) continue;
        const ModelLayout& first = *plan.counts[*plan.best].best();
        CHECK(plan.answer.verdict.find(first.point.layout) != std::string::npos);
        CHECK((plan.answer.verdict.find("may not fit") != std::string::npos) == (first.fits < 0.95));
      }
    }
  }
}

}  // namespace verdict_laws
