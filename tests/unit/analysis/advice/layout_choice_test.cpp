// Recommendations with [parallel]: the layout that plan names first, on the number of GPUs that pays.
#include <algorithm>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace layout_choice_test {

using namespace foretrain;

namespace {

const std::vector<std::string> kFixed{"tensor", "micro_batch", "recompute", "virtual_stages", "shard"};

Scenario scenario_of(const std::string& data) {
  test::use_source_catalogs();
  return read_scenario({"s.toml",
                        "[model]\nname = \"llama3_2_1b\"\nprecision = \"bf16\"\n[cluster]\nname = "
                        "\"hgx-h100-400g\"\n" +
                            data + "[parallel]\nsequence = 4096\nglobal_batch = 64\nrecompute = \"full\"\n"},
                       {});
}

Recommendation recommended(RecommendationRequest request = {}) {
  static const ComparedScenarios kScenarios{scenario_of("[data]\nsamples = 100000\n[run]\nepochs = 1\n"), {}};
  request.fixed = kFixed;
  if (request.only_gpus.empty()) request.only_gpus = {2, 8, 16};
  return recommend(kScenarios, request);
}

}  // namespace

TEST_CASE("the job to ask for has the layout that plan names first on its GPUs, and says why") {
  const Recommendation found = recommended();
  REQUIRE(found.best);
  REQUIRE(found.best->layout);
  const Scenario scenario = scenario_of("");
  const LayoutSearch search =
      search_layouts(scenario, {.gpus = found.best->point.gpus, .global_batch = 64, .fixed = kFixed});
  CHECK(found.best->layout->degrees == search.layouts.front().job.degrees);
  CHECK(found.best->point.step_s == Approx(search.layouts.front().step_s).epsilon(1e-9));
  REQUIRE_FALSE(found.notes.empty());
  CHECK_THAT(found.notes.front(), ContainsSubstring("layouts that fit"));
  CHECK(found.looked_at.size() == 3);
  CHECK(found.looked_at.front().point.efficiency == Approx(1));
}

TEST_CASE("the fastest goal takes the fastest, and a limit on GPUs is kept") {
  RecommendationRequest request;
  request.goal = Goal::fastest;
  CHECK(recommended(request).best->point.gpus == 16);
  request.most_gpus = 8;
  CHECK(recommended(request).best->point.gpus == 8);
}

TEST_CASE("layouts are chosen by the same rules: a deadline gets the fewest GPUs that keep it") {
  RecommendationRequest request;
  const Recommendation all = recommended(request);
  for (const JobOption& job : all.looked_at) {
    request.deadline_s = job.point.total_interval.high_s;
    const Recommendation found = recommended(request);
    REQUIRE(found.best);
    CHECK(found.best->point.gpus == job.point.gpus);
    CHECK(*found.best->keeps_deadline == Approx(0.95));
  }
}

TEST_CASE("layouts of more nodes than a first run has are a note") {
  const ComparedScenarios hours{scenario_of("[data]\nsamples = 1000000\n[run]\nepochs = 1\n"), {}};
  RecommendationRequest request;
  request.fixed = kFixed, request.only_gpus = {8, 16}, request.first_run_nodes = 1;
  const Recommendation first = recommend(hours, request);
  REQUIRE(first.best);
  CHECK(first.best->point.nodes == 1);
  CHECK_THAT(first.notes.front(), ContainsSubstring("layouts that fit"));
  CHECK(std::ranges::any_of(first.notes, [](const std::string& note) {
    return note.starts_with("More than 1 node: 16 GPUs on 2 nodes would take ");
  }));
  request.first_run_nodes = 2;
  CHECK(recommend(hours, request).best->point.gpus == 16);
}

TEST_CASE("a plan for a script has the framework's program and a time from the interval") {
  const Recommendation found = recommended();
  CHECK_THAT(found.plan.program, ContainsSubstring("pretrain_gpt.py"));
  CHECK_THAT(found.plan.program, ContainsSubstring("--train-iters 1563"));  // 100,000 / 64, rounded up
  CHECK(found.plan.time_limit_s >= found.best->point.total_interval.high_s);
  CHECK(found.plan.processes_per_node * found.plan.nodes == found.best->point.gpus);
}

TEST_CASE("without the data set's size nobody can say how long") {
  const ComparedScenarios scenarios{scenario_of(""), {}};
  CHECK_THROWS_WITH(recommend(scenarios, {}), ContainsSubstring("how long is an epoch?"));
}

}  // namespace layout_choice_test
