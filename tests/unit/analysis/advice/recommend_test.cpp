// Recommendations for small scenarios: which number of GPUs for which goal, and what is said with it.
#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/recommended.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace recommend_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::string message_of(const Scenario& scenario) {
  try {
    recommended(scenario);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a training that scales gets every GPU when it must be fast and one when it must be cheap") {
  const Recommendation fast = recommended(scaling_scenario(), goal(Goal::fastest));
  REQUIRE(fast.best);
  CHECK(fast.best->point.gpus == 16);
  CHECK(fast.best->point.nodes == 4);
  CHECK(fast.best->point.speedup > 8);
  CHECK(fast.plan.nodes == 4);
  CHECK(fast.plan.gpus_per_node == 4);
  const Recommendation cheap = recommended(scaling_scenario(), goal(Goal::cheapest));
  REQUIRE(cheap.best);
  CHECK(cheap.best->point.gpus == 1);
  CHECK(cheap.best->point.speedup == Approx(1));
  CHECK(cheap.best->gpu_hours == Approx(cheap.best->point.total_s / 3600));
  CHECK(cheap.cost_unit == "GPU-h");
}

TEST_CASE("without the number of samples nothing can be recommended") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.samples = 0;
  CHECK_THAT(message_of(scenario),
             ContainsSubstring("how long is an epoch?") && ContainsSubstring("--set data.samples="));
}

TEST_CASE("waiting in the queue is no part of the speedup nor of the choice") {
  RecommendationRequest request = goal(Goal::fastest);
  const Recommendation without = recommended(scaling_scenario(), request);
  request.queue_wait_s = 600;
  request.queue_waits_s[16] = 1e6;
  const Recommendation with = recommended(scaling_scenario(), request);
  const std::vector<JobOption> a = all_jobs(without), b = all_jobs(with);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].point.gpus == b[i].point.gpus);
    CHECK(a[i].point.speedup == b[i].point.speedup);
    CHECK(a[i].cost == b[i].cost);
    CHECK(a[i].time_to_result_s == a[i].point.total_s);
    CHECK(b[i].time_to_result_s == Approx(b[i].point.total_s + (b[i].point.gpus == 16 ? 1e6 : 600)));
  }
}

TEST_CASE("the scenario's strategy stays, and one that takes less time on the same GPUs is a note") {
  Scenario slow = test::scenario_of(test::resnet18(), test::star_cluster(4, {1e9}),
                                    {1});  // 47 MB of gradients over 1 GB/s
  slow.workload.data.samples = 1'280'000, slow.workload.data.loader = LoaderKind::none;
  Scenario fast = slow;
  fast.strategy = "horovod",
  fast.knobs.edit<GradientOptions>().compression = Compression::fp16;  // half of them
  const Recommendation both = recommend({slow, {slow, fast}}, goal(Goal::fastest));
  REQUIRE(both.best);
  for (const JobOption& job : all_jobs(both)) CHECK(job.strategy == "ddp");
  CHECK(has_note(both, "horovod would take "));
  CHECK(has_note(both, " less time than ddp on these GPUs"));
  Scenario same = slow;
  same.strategy = "horovod";
  CHECK_FALSE(has_note(recommend({slow, {slow, same}}, goal(Goal::cheapest)), "horovod"));
}

TEST_CASE("more samples in a step are a warning with the factor, and a batch that stays is none") {
  const Recommendation weak = recommended(scaling_scenario(), goal(Goal::fastest));
  REQUIRE(weak.warnings.size() == 1);
  CHECK_THAT(weak.warnings.front(),
             ContainsSubstring("16 times as many samples") && ContainsSubstring("512 instead of 32"));
  Scenario strong = scaling_scenario();
  strong.global_batch = 64;
  CHECK(recommended(strong, goal(Goal::fastest)).warnings.empty());
}

TEST_CASE("the runs that would confirm a job are its own and that on the fewest GPUs, of about a minute") {
  const Recommendation r = recommended(scaling_scenario(), goal(Goal::fastest));
  REQUIRE(r.confirming.size() == 2);
  CHECK(r.confirming[0].plan.nodes * r.confirming[0].plan.gpus_per_node == 1);
  CHECK(r.confirming[1].plan.nodes * r.confirming[1].plan.gpus_per_node == 16);
  for (const ConfirmingRun& run : r.confirming) {
    CHECK(run.steps >= 50);
    CHECK(run.duration_s > 60);
    CHECK(run.duration_s < 300);
    CHECK(run.plan.time_limit_s > run.duration_s);
  }
  CHECK(recommended(scaling_scenario(), goal(Goal::cheapest)).confirming.size() == 2);
}

TEST_CASE("a measured step is what the recommendation repeats") {
  Scenario scenario = scaling_scenario();
  scenario.anchor = Anchor{1, 0.1};
  const Recommendation r = recommended(scenario, goal(Goal::cheapest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 1);
  CHECK(r.best->point.step_s == Approx(0.1).epsilon(1e-4));
}

TEST_CASE("a first run has two nodes at most, until a measurement on two nodes is given") {
  Scenario scenario = scaling_scenario();
  scenario.epochs = 90;
  const Recommendation first = recommended(scenario);
  REQUIRE(first.best);
  CHECK(first.best->point.gpus == 8);
  CHECK(has_note(first, "More than two nodes: 16 GPUs on 4 nodes would take "));
  scenario.anchor = Anchor{1, 0.1};
  CHECK(recommended(scenario).best->point.nodes == 2);
  scenario.anchor = Anchor{8, 0.1};
  const Recommendation confirmed = recommended(scenario);
  CHECK(confirmed.best->point.gpus == 16);
  CHECK_FALSE(has_note(confirmed, "More than two nodes"));
}

TEST_CASE("the same question has the same answer") {
  const Recommendation a = recommended(scaling_scenario()), b = recommended(scaling_scenario());
  const std::vector<JobOption> first = all_jobs(a), second = all_jobs(b);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].point.gpus == second[i].point.gpus);
    CHECK(first[i].point.total_s == second[i].point.total_s);
    CHECK(first[i].point.total_interval.high_s == second[i].point.total_interval.high_s);
    CHECK(first[i].trade == second[i].trade);
  }
  CHECK(a.notes == b.notes);
}

TEST_CASE("progress of a recommendation goes forward and stays below one") {
  std::vector<double> seen;
  recommend({scaling_scenario(), {}}, {}, [&](double done) { seen.push_back(done); });
  REQUIRE_FALSE(seen.empty());
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() < 1);
}

TEST_CASE(
    "the strategies beside a scenario's own are those of its framework that are started in the same way") {
  test::use_source_catalogs();
  const auto names = [](const std::string& strategy) {
    ScenarioOverrides overrides;
    overrides.model = "mnist_net", overrides.cluster = "puhti", overrides.strategy = strategy;
    std::vector<std::string> out;
    for (const Scenario& scenario : read_recommended({}, overrides).strategies)
      out.push_back(scenario.strategy);
    return out;
  };
  const std::vector<std::string> like_ddp = names("ddp");
  const auto has = [&](const char* name) {
    return std::find(like_ddp.begin(), like_ddp.end(), name) != like_ddp.end();
  };
  CHECK(has("fsdp"));
  CHECK(has("zero1"));
  CHECK_FALSE(has("ddp"));
  CHECK_FALSE(has("single"));
  CHECK_FALSE(has("data_parallel"));
  CHECK_FALSE(has("mirrored"));
  CHECK(names("data_parallel").empty());
}

}  // namespace recommend_test
