// Several numbers of GPUs: efficiencies, where more stop paying, and intervals that predict agrees with.
#include "sim/analysis/search/planned_counts.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/layout_points.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace planned_counts_test {

using namespace foretrain;

namespace {

const std::vector<std::string> kFixed{"tensor", "micro_batch", "recompute", "shard", "virtual_stages"};

Scenario scenario_of(const std::string& parallel, const std::string& more = "",
                     const std::string& model = "llama3_2_1b") {
  test::use_source_catalogs();
  return read_scenario(
      {"s.toml", "[model]\nname = \"" + model +
                     "\"\nprecision = \"bf16\"\n[cluster]\nname = \"hgx-h100-400g\"\n" + more +
                     "[parallel]\nsequence = 4096\nrecompute = \"full\"\n" + parallel},
      {});
}

const Scenario& small_scenario() {
  static const Scenario kScenario = scenario_of("");
  return kScenario;
}

const PlannedCounts& small_plan() {
  static const PlannedCounts kPlan =
      plan_counts(small_scenario(), {1, 2, 8, 16}, {.global_batch = 32, .fixed = kFixed});
  return kPlan;
}

}  // namespace

TEST_CASE("all numbers have one global batch, and efficiency counts from the fewest that fit") {
  const PlannedCounts& plan = small_plan();
  REQUIRE(plan.counts.size() == 4);
  REQUIRE(plan.fewest);
  const PlannedCount& fewest = plan.counts[*plan.fewest];
  CHECK(fewest.efficiency == Approx(1));
  for (const PlannedCount& count : plan.counts) {
    CHECK(count.search.global_batch == 32);
    REQUIRE(count.best() != nullptr);
    CHECK(count.tokens_per_s == Approx(32 * 4096 / count.best()->step_s));
    CHECK(count.efficiency == Approx(count.tokens_per_s / count.gpus / (fewest.tokens_per_s / fewest.gpus)));
    CHECK(count.run_s == Approx(plan.tokens / count.tokens_per_s));
    CHECK(count.gpu_hours == Approx(count.run_s * count.gpus / 3600));
  }
  CHECK_FALSE(plan.is_run);
  CHECK(plan.tokens == 1e12);
}

TEST_CASE("the last number that pays is the one before the first that does not, as the answer says") {
  const PlannedCounts& plan = small_plan();
  REQUIRE(plan.best);
  const Answer answer = answer_of(small_scenario(), plan);
  CHECK(answer.kind == VerdictKind::request);
  CHECK(answer.gpus == plan.counts[*plan.best].gpus);
  CHECK(answer.counts == std::vector<int>{1, 2, 8, 16});
  CHECK(answer.says_more_gpus);
  CHECK_THAT(answer.verdict, ContainsSubstring("Ask for " + counted(answer.gpus, "GPU")) &&
                                 ContainsSubstring(plan.counts[*plan.best].best()->point.layout));
  for (std::size_t i = *plan.fewest; i <= *plan.best; ++i) CHECK(plan.counts[i].pays);
  if (*plan.best + 1 < plan.counts.size()) {
    const PlannedCount &best = plan.counts[*plan.best], &next = plan.counts[*plan.best + 1];
    CHECK_FALSE(next.pays);
    const double doublings = std::log2(static_cast<double>(next.gpus) / best.gpus);
    CHECK(next.tokens_per_s < std::pow(1.4, doublings) * best.tokens_per_s);
    CHECK_THAT(answer.action, ContainsSubstring(std::to_string(next.gpus) + " GPUs do not pay"));
  } else {
    CHECK_THAT(answer.action, ContainsSubstring("Every doubling up to there"));
  }
}

TEST_CASE("numbers that nothing divides or fits have their reason, and do not count") {
  const Scenario scenario = scenario_of("", "", "llama3_70b");
  const PlannedCounts plan = plan_counts(
      scenario, {7, 8, 16}, {.global_batch = 16, .fixed = {"pipeline", "micro_batch", "virtual_stages"}});
  CHECK_THAT(plan.counts[0].search.why_none, ContainsSubstring("no layout divides 7 GPUs"));
  CHECK(plan.counts[0].best() == nullptr);
  REQUIRE(plan.fewest);
  CHECK(*plan.fewest > 0);
  CHECK_THAT(answer_of(scenario, plan).action, ContainsSubstring("the fewest on which it fits"));
}

TEST_CASE("the answer about one number is its first layout, whose cause saves most when it is removed") {
  const Scenario scenario = scenario_of("");
  PlannedCounts plan = plan_counts(scenario, {8}, {.global_batch = 32, .fixed = kFixed});
  const Answer answer = answer_of(scenario, plan);
  const ModelLayout& first = *plan.counts.front().best();
  CHECK(answer.kind == VerdictKind::time);
  CHECK(answer.value_s == first.step_s);
  CHECK_THAT(answer.verdict, StartsWith("On 8 GPUs, " + first.point.layout) && ContainsSubstring("fit"));
  REQUIRE(answer.causes);
  CHECK(answer.causes->step_s == Approx(first.step_s).epsilon(1e-9));
  double sum = answer.causes->kernels_s;
  for (const CausePart& part : answer.causes->in_turn) sum += part.seconds;
  CHECK(sum == Approx(first.step_s));
  CHECK(answer.not_credible.empty());
}

TEST_CASE("what fits nowhere has no layout in its answer, but what is needed and a way out") {
  const Scenario scenario = scenario_of("", "", "llama3_405b");
  const PlannedCounts plan = plan_counts(scenario, {8}, {.global_batch = 8});
  const Answer answer = answer_of(scenario, plan);
  CHECK(answer.kind == VerdictKind::does_not_fit);
  CHECK_THAT(answer.verdict,
             ContainsSubstring("does not fit on 8 GPUs") && ContainsSubstring("the smallest"));
  CHECK_THAT(answer.action, ContainsSubstring("more GPUs"));
  CHECK_FALSE(answer.causes);
}

TEST_CASE("a run of the scenario is what GPU-hours are about") {
  const Scenario scenario = scenario_of("", "[data]\nsamples = 1000\n[run]\nepochs = 2\n");
  const PlannedCounts plan = plan_counts(scenario, {8}, {.global_batch = 32, .fixed = kFixed});
  CHECK(plan.is_run);
  CHECK(plan.tokens == 2 * 1000 * 4096);
}

TEST_CASE("a layout's interval is the one that predict prints for its degrees") {
  const Scenario scenario = scenario_of("");
  LayoutSearch search = search_layouts(scenario, {.gpus = 16, .global_batch = 32, .fixed = kFixed});
  add_intervals(scenario, shown_rows(search, 2), search);
  const ModelLayout& first = search.layouts.front();
  REQUIRE(first.interval);
  CHECK(first.interval->low_s < first.step_s);
  CHECK(first.interval->high_s > first.step_s);
  CHECK(first.over_first.low == 1);
  Scenario own = scenario;
  own.parallel = first.job, own.parallel->degrees.data = 0, own.gpus = {16};
  const PredictionPoint point = predict(own).points.front();
  CHECK(point.step_s == Approx(first.step_s).epsilon(1e-9));
  CHECK(first.interval->low_s == Approx(point.interval.low_s).epsilon(1e-9));
  CHECK(first.interval->high_s == Approx(point.interval.high_s).epsilon(1e-9));
}

TEST_CASE("rows beyond those shown have no interval, and a slower row's ratio contains its own") {
  const Scenario scenario = scenario_of("");
  LayoutSearch search = search_layouts(scenario, {.gpus = 8, .global_batch = 32, .fixed = {"recompute"}});
  const std::vector<std::size_t> rows = shown_rows(search, 3);
  add_intervals(scenario, rows, search);
  REQUIRE(rows.size() >= 3);
  for (const std::size_t i : rows) {
    const ModelLayout& layout = search.layouts[i];
    const double ratio = layout.step_s / search.layouts.front().step_s;
    CHECK(layout.interval.has_value());
    CHECK(layout.over_first.low <= ratio * (1 + 1e-9));
    CHECK(layout.over_first.high >= ratio * (1 - 1e-9));
  }
  CHECK(static_cast<std::size_t>(std::ranges::count_if(search.layouts, [](const ModelLayout& layout) {
          return layout.interval.has_value();
        })) == rows.size());
}

}  // namespace planned_counts_test
