// Recommendations for small scenarios: which number of GPUs, within which limits, and what is changed around
// it.
#include "sim/analysis/advice/recommend.hpp"

#include <algorithm>

#include "sim/strategy/process/gradient_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace recommend_test {

using namespace foretrain;

namespace {

/// ResNet-18 on four nodes of four GPUs; batches lie on the GPU. An hour or so on one GPU.
Scenario scaling_scenario() {
  Scenario scenario = test::scenario_of(test::resnet18(), test::nvlink_cluster(4, 2), {1});
  scenario.workload.data.samples = 1'280'000;
  scenario.workload.data.loader = LoaderKind::none;
  return scenario;
}

Recommendation recommended(const Scenario& scenario, const RecommendationRequest& request = {}) {
  return recommend({scenario, {}}, request);
}

RecommendationRequest goal(Goal wanted) {
  RecommendationRequest request;
  request.goal = wanted;
  return request;
}

std::vector<JobOption> all_jobs(const Recommendation& recommendation) {
  std::vector<JobOption> jobs = recommendation.runners_up;
  if (recommendation.best) jobs.insert(jobs.begin(), *recommendation.best);
  return jobs;
}

Partition partition(const std::string& name, int most_gpus, double hours) {
  Partition out;
  out.name = name, out.most_gpus = most_gpus, out.longest = seconds(3600 * hours);
  return out;
}

bool has_note(const Recommendation& recommendation, const std::string& words) {
  return std::any_of(recommendation.notes.begin(), recommendation.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

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

TEST_CASE("a batch that fits no GPU is cut into micro-steps of the same samples") {
  Scenario scenario = scaling_scenario();
  scenario.workload.batch_per_gpu = 4096;
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 16);
  CHECK(r.best->accumulation > 1);
  CHECK(r.best->accumulation * r.best->point.batch_per_gpu == 4096);
  CHECK(r.best->point.global_batch == 16 * 4096);
  CHECK(r.plan.accumulation == r.best->accumulation);
  CHECK(has_note(r, "4096 samples per GPU do not fit at once: "));
}

TEST_CASE("training that waits for input gets more workers, up to its cores") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.workers_per_gpu = 1;
  scenario.workload.data.decode =
      milliseconds(100);  // a batch of 32 takes 0.32 s on all of a GPU's ten cores
  const Recommendation r = recommended(scenario);
  REQUIRE(r.best);
  CHECK(r.best->workers_per_gpu == 10);  // 40 cores for 4 GPUs
  CHECK(r.plan.workers_per_gpu == 10);
  CHECK(has_note(r, "10 workers per GPU instead of 1: a step takes "));
  for (const JobOption& job : r.runners_up) CHECK(job.workers_per_gpu == 10);
  scenario.workload.data.workers_per_gpu = 10;
  CHECK(has_note(recommended(scenario), "more than 10 workers on 10 cores per GPU do not help"));
}

TEST_CASE("training that does not wait keeps its workers") {
  Scenario scenario = test::mnist_scenario({1});
  scenario.workload.data.samples = 600'000;
  scenario.workload.data.workers_per_gpu = 4;
  const Recommendation r = recommended(scenario);
  REQUIRE(r.best);
  CHECK(r.best->workers_per_gpu == 4);
  CHECK_FALSE(has_note(r, "worker"));
}

TEST_CASE("where a scenario says nothing of loading, neither does its job") {
  Scenario scenario = scaling_scenario();  // loader none
  scenario.workload.data.workers_per_gpu = 4;
  CHECK(recommended(scenario).plan.workers_per_gpu == 0);
}

TEST_CASE("without the number of samples nothing can be recommended") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.samples = 0;
  CHECK_THAT(message_of(scenario),
             ContainsSubstring("how long is an epoch?") && ContainsSubstring("--set data.samples="));
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
      CHECK(job.point.global_batch == 6);
    }
  }
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

TEST_CASE("a recommended job starts one process per GPU, whatever the scenario's launch leaves idle") {
  Scenario scenario = scaling_scenario();
  scenario.launch.with = Launcher::python;
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 16);
  CHECK(r.plan.launcher == Launcher::torchrun);
  CHECK(has_note(r, "python alone starts one"));
  scenario.launch = {Launcher::srun, 1};
  const Recommendation by_srun = recommended(scenario, goal(Goal::fastest));
  CHECK(by_srun.best->point.gpus == 16);
  CHECK(by_srun.plan.launcher == Launcher::srun);
  CHECK(by_srun.plan.processes_per_node == 4);
}

TEST_CASE("GPUs on which drop_last leaves no step are not recommended for their speed") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.samples = 32 * 9, scenario.workload.data.drop_last = true;
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  for (const JobOption& job : all_jobs(r)) CHECK(job.point.gpus <= 9);
}

TEST_CASE("a site's rates make the cost, a given price takes their place, and rates of nothing are none") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.site.billing = {"BU", 100, 0, 0};
  const Recommendation billed = recommended(scenario);
  CHECK(billed.cost_unit == "BU");
  CHECK(billed.best->cost == Approx(100 * billed.best->gpu_hours));
  RecommendationRequest request;
  request.price_per_gpu_hour = 2.5;
  const Recommendation priced = recommended(scenario, request);
  CHECK(priced.cost_unit.empty());
  CHECK(priced.best->cost == Approx(2.5 * priced.best->gpu_hours));
  scenario.cluster.site.billing.per_gpu_hour = 0;
  CHECK(recommended(scenario).cost_unit == "GPU-h");
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
  request.only_gpus = {5};
  CHECK(recommended(scaling_scenario(), request).why_none ==
        "no partition gives a number of GPUs that the strategy can use");
}

TEST_CASE("a partition's least size is kept, too") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.site.partitions = {partition("large", 16, 48)};
  scenario.cluster.site.partitions[0].least_nodes = 2;
  for (const JobOption& job : recommended(scenario, goal(Goal::cheapest)).looked_at)
    CHECK(job.point.nodes >= 2);
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

TEST_CASE("a node's energy is that of its GPUs, of the rest of it, and of GPUs that are paid and idle") {
  Scenario scenario = scaling_scenario();
  scenario.cluster.node.gpu.tdp_w = 300;
  RecommendationRequest one = goal(Goal::cheapest);
  one.only_gpus = {1};
  const JobOption shared = *recommended(scenario, one).best;
  const double hours = shared.point.total_s / 3600;
  CHECK(shared.energy_kwh == Approx(shared.gpu_energy_kwh + 0.15 * hours));  // half of one board
  scenario.cluster.node.host.power_w = 400;
  CHECK(recommended(scenario, one).best->energy_kwh == Approx(shared.gpu_energy_kwh + 0.1 * hours));
  scenario.cluster.site.partitions = {partition("nodes", 16, 48)};
  scenario.cluster.site.partitions[0].whole_nodes = true;
  CHECK(recommended(scenario, one).best->energy_kwh ==
        Approx(shared.gpu_energy_kwh + (0.4 + 3 * 0.2 * 0.3) * hours));
}

TEST_CASE("a measured step is what the recommendation repeats") {
  Scenario scenario = scaling_scenario();
  scenario.anchor = Anchor{1, 0.1};
  const Recommendation r = recommended(scenario, goal(Goal::cheapest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 1);
  CHECK(r.best->point.step_s == Approx(0.1).epsilon(1e-4));
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
