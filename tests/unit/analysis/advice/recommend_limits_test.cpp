// No recommended job is larger, smaller or longer than partitions, strategies, samples and the question
// allow.
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/recommended.hpp"

namespace recommend_limits_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("no job is larger than a partition gives") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.site.partitions = {partition("small", 2, 48), partition("nodes", 8, 48)};
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 8);
  CHECK(r.best->partition == "nodes");
  for (const JobOption& job : all_jobs(r)) CHECK(job.partition == (job.point.gpus <= 2 ? "small" : "nodes"));
  scenario.cluster.site.partitions[0].for_tests = scenario.cluster.site.partitions[1].for_tests = true;
  CHECK(recommended(scenario).why_none == "no partition gives a number of GPUs that the strategy can use");
}

TEST_CASE("a run that a partition ends too early becomes jobs in a row, each of which waits") {
  Scenario scenario = scaling_scenario();
  const double total_s = recommended(scenario, goal(Goal::cheapest)).best->point.total_s;
  scenario.cluster.site.partitions = {partition("gpu", 1, 0.5 * total_s / 3600)};
  RecommendationRequest request;
  request.queue_wait_s = 100;
  const Recommendation r = recommended(scenario, request);
  REQUIRE(r.best);
  CHECK(r.best->jobs >= 3);  // a tenth more than twice the longest
  CHECK(r.best->time_limit_s == Approx(0.5 * total_s));
  CHECK(r.best->time_to_result_s == Approx(total_s + 100 * r.best->jobs));
  CHECK(has_note(r, "longer than gpu allows: "));
}

TEST_CASE("a run that just fits into a partition is one job without the usual margin") {
  Scenario scenario = scaling_scenario();
  const double latest_s = recommended(scenario, goal(Goal::cheapest)).best->point.total_interval.high_s;
  scenario.cluster.site.partitions = {partition("gpu", 1, 1.02 * latest_s / 3600)};
  const Recommendation r = recommended(scenario);
  REQUIRE(r.best);
  CHECK(r.best->jobs == 1);
  CHECK(r.best->time_limit_s == Approx(1.02 * latest_s));
}

TEST_CASE("strong scaling asks for no more GPUs than it has samples in a step") {
  Scenario scenario = test::mnist_scenario({1});  // eight nodes of one GPU
  scenario.workload.data.samples = 60'000;
  scenario.global_batch = 6;
  for (const Goal wanted : {Goal::fastest, Goal::balanced, Goal::cheapest}) {
    const Recommendation r = recommended(scenario, goal(wanted));
    REQUIRE(r.best);
    for (const JobOption& job : all_jobs(r)) {
      CHECK(job.point.gpus <= 6);
      // Whole samples on every GPU: 6 on 4 GPUs are 4 x 2.
      CHECK(job.point.global_batch == (6 + job.point.gpus - 1) / job.point.gpus * job.point.gpus);
    }
  }
}

TEST_CASE("a strategy of one process is never spread over two nodes") {
  Scenario scenario = scaling_scenario();
  scenario.strategy = "data_parallel";
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  for (const JobOption& job : all_jobs(r)) CHECK(job.point.nodes == 1);
  CHECK(r.plan.launcher == Launcher::python);
}

TEST_CASE("the plain loop is never given a second GPU") {
  Scenario scenario = scaling_scenario();
  scenario.strategy = "single";
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 1);
  CHECK(r.runners_up.empty());
  CHECK(r.plan.launcher == Launcher::python);
  scenario.launch.with = Launcher::python;
  CHECK_FALSE(has_note(recommended(scenario), "python alone"));
}

TEST_CASE("a cluster of one GPU gets one GPU, for every goal") {
  Scenario scenario = test::scenario_of(test::mnist_net(), test::star_cluster(1, {12.3e9}), {1});
  scenario.workload.data.samples = 60'000;
  for (const Goal wanted : {Goal::fastest, Goal::balanced, Goal::cheapest}) {
    const Recommendation r = recommended(scenario, goal(wanted));
    REQUIRE(r.best);
    CHECK(r.best->point.gpus == 1);
    CHECK(r.runners_up.empty());
  }
}

TEST_CASE("a spread job gets as many GPUs on each node") {
  Scenario scenario = scaling_scenario();
  scenario.layout = Layout::spread;
  for (const Goal wanted : {Goal::fastest, Goal::balanced}) {
    for (const JobOption& job : all_jobs(recommended(scenario, goal(wanted))))
      CHECK(job.point.gpus % job.point.nodes == 0);
  }
}

TEST_CASE("GPUs on which drop_last leaves no step are not recommended for their speed") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.samples = 32 * 9, scenario.workload.data.drop_last = true;
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  for (const JobOption& job : all_jobs(r)) CHECK(job.point.gpus <= 9);
}

TEST_CASE("every limit that is given is kept by every job that is looked at") {
  RecommendationRequest request = goal(Goal::fastest);
  request.only_gpus = {8, 2, 6};
  const auto numbers = [](const Recommendation& r) {
    std::vector<int> gpus;
    for (const JobOption& job : r.looked_at) gpus.push_back(job.point.gpus);
    return gpus;
  };
  // Six are three on each of two nodes.
  CHECK(numbers(recommended(scaling_scenario(), request)) == std::vector<int>{2, 6, 8});
  request.most_gpus = 6;
  CHECK(numbers(recommended(scaling_scenario(), request)) == std::vector<int>{2, 6});
  request.most_nodes = 1;
  CHECK(numbers(recommended(scaling_scenario(), request)) == std::vector<int>{2});
  request.most_nodes = 2, request.only_gpus = {5};
  CHECK(recommended(scaling_scenario(), request).why_none ==
        "no partition gives a number of GPUs that the strategy can use");
}

TEST_CASE("listed GPUs that a limit does not allow are a contradiction") {
  RecommendationRequest request = goal(Goal::fastest);
  request.only_gpus = {8, 16}, request.most_gpus = 4;
  CHECK_THROWS_WITH(recommended(scaling_scenario(), request),
                    ContainsSubstring("--gpus lists only numbers above 4, which --max-gpus does not allow"));
  request.most_gpus = 0, request.most_nodes = 1;
  CHECK_THROWS_WITH(
      recommended(scaling_scenario(), request),
      ContainsSubstring("--gpus lists only jobs on more than 1 node, which --max-nodes does not allow"));
  request.only_gpus = {4, 16};
  CHECK(recommended(scaling_scenario(), request).best->point.gpus == 4);
}

TEST_CASE("a partition's least size is kept, too") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.site.partitions = {partition("large", 16, 48)};
  scenario.cluster.site.partitions[0].least_nodes = 2;
  for (const JobOption& job : recommended(scenario, goal(Goal::cheapest)).looked_at)
    CHECK(job.point.nodes >= 2);
}

}  // namespace recommend_limits_test
