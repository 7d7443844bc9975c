// Choosing among four made-up jobs: 1, 2, 4 and 8 GPUs take 16, 8.5, 5 and 4 hours and cost their GPU-hours.
#include "sim/analysis/advice/recommend.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace job_choice_test {

using namespace foretrain;

namespace {

constexpr double kHour = 3600;

/// Up to a quarter longer than predicted.
JobOption option(int gpus, double hours) {
  JobOption job;
  job.strategy = "ddp";
  job.point.gpus = gpus, job.point.nodes = (gpus + 3) / 4;
  job.point.batch_per_gpu = 32, job.point.global_batch = 32 * gpus;
  job.point.total_s = hours * kHour;
  job.point.speedup_range = {1.0 * gpus, 1.0 * gpus};
  job.point.total_interval = {0.8 * hours * kHour, 1.25 * hours * kHour, 0.9};
  job.gpu_hours = job.cost = gpus * hours;
  return job;
}

std::vector<JobOption> four_options() { return {option(1, 16), option(2, 8.5), option(4, 5), option(8, 4)}; }

void make_too_large(JobOption& job) { job.point.memory.parameters = {2}, job.point.memory_capacity = {1}; }

Recommendation chosen(const std::vector<JobOption>& options, const RecommendationRequest& request = {}) {
  return choose_jobs(options, request, {"GPU-h", 1.0});
}

RecommendationRequest goal(Goal wanted) {
  RecommendationRequest request;
  request.goal = wanted;
  return request;
}

int best_for(Goal wanted, const std::vector<JobOption>& options) {
  return chosen(options, goal(wanted)).best->point.gpus;
}

std::vector<int> runners_up_of(const Recommendation& recommendation) {
  std::vector<int> gpus;
  for (const JobOption& job : recommendation.runners_up) gpus.push_back(job.point.gpus);
  return gpus;
}

JobOption on_eight(const std::string& strategy) {
  JobOption job = option(8, 4);
  job.strategy = strategy, job.time_limit_s = 5 * kHour, job.workers_per_gpu = 6, job.partition = "gpu";
  return job;
}

}  // namespace

TEST_CASE("fastest is the shortest run, cheapest the least cost, balanced the least product of both") {
  CHECK(best_for(Goal::fastest, four_options()) == 8);
  CHECK(best_for(Goal::cheapest, four_options()) == 1);
  CHECK(best_for(Goal::balanced, four_options()) ==
        4);  // 16 x 16 = 256, 8.5 x 17 = 144.5, 5 x 20 = 100, 4 x 32 = 128
}

TEST_CASE("a balanced job's efficiency can be asked for, against one GPU and at the end of the interval") {
  RecommendationRequest request;
  request.efficiency = 0.95;  // 1 to 2 GPUs: 1.88 times as fast, an efficiency of 0.94
  CHECK(chosen(four_options(), request).best->point.gpus == 1);
  request.efficiency = 0.6;  // 4 to 8: 1.25 times, less than 1.2 would need
  CHECK(chosen(four_options(), request).best->point.gpus == 8);
  std::vector<JobOption> options = four_options();
  options[2].point.speedup_range.low = 1.9, options[3].point.efficiency = 0.5;
  CHECK(chosen(options).best->point.gpus == 2);
}

TEST_CASE("below a quarter of an hour only the cost counts when both do") {
  CHECK(best_for(Goal::balanced, {option(1, 0.5), option(2, 0.26), option(4, 0.14), option(8, 0.08)}) ==
        2);  // 936 s x 0.52; 900 s x 0.56 is more
  CHECK(best_for(Goal::balanced, {option(1, 0.2), option(2, 0.11)}) == 1);
  CHECK(best_for(Goal::fastest, {option(1, 0.2), option(2, 0.11)}) == 2);
}

TEST_CASE("what differs by less than a percent goes to fewer GPUs") {
  CHECK(best_for(Goal::fastest, {option(4, 5), option(8, 4.96)}) == 4);  // 0.992
  CHECK(best_for(Goal::fastest, {option(4, 5), option(8, 4.94)}) == 8);  // 0.988
  CHECK(best_for(Goal::cheapest, {option(1, 16), option(2, 7.97)}) == 1);
}

TEST_CASE("a deadline is kept by the end of the interval, not by the prediction") {
  RecommendationRequest request = goal(Goal::cheapest);
  request.deadline_s = 6 * kHour;
  CHECK(chosen(four_options(), request).best->point.gpus == 8);  // 4 GPUs take 5 h, up to 6.25
  request.deadline_s = 6.5 * kHour;
  CHECK(chosen(four_options(), request).best->point.gpus == 4);
}

TEST_CASE("a budget leaves out what takes more GPU-hours") {
  RecommendationRequest request = goal(Goal::fastest);
  request.budget_gpu_hours = 18;  // of 16, 17, 20 and 32
  CHECK(chosen(four_options(), request).best->point.gpus == 2);
  CHECK(runners_up_of(chosen(four_options(), request)) == std::vector<int>{1});
}

TEST_CASE("a job that does not fit into memory, or trains on nothing, is never chosen") {
  std::vector<JobOption> options = four_options();
  make_too_large(options[3]);
  CHECK(best_for(Goal::fastest, options) == 4);
  options[2].point.steps_per_epoch = 0;  // drop_last left out everything
  CHECK(best_for(Goal::fastest, options) == 2);
}

TEST_CASE("when no job keeps the limits, the one that comes nearest says why") {
  RecommendationRequest request;
  request.deadline_s = kHour;
  const Recommendation late = chosen(four_options(), request);
  CHECK_FALSE(late.best);
  CHECK(late.runners_up.empty());
  CHECK(late.why_none == "on 8 GPUs the run takes 4 h, up to 5 h, and the deadline is 1 h");
  request = {};
  request.budget_gpu_hours = 10;
  CHECK(chosen(four_options(), request).why_none ==
        "on 1 GPU the run takes 16 GPU-hours, and the budget is 10");
  request.deadline_s = 5.5 * kHour;  // which 8 GPUs keep
  CHECK(chosen(four_options(), request).why_none ==
        "on 8 GPUs the run takes 32 GPU-hours, and the budget is 10");
}

TEST_CASE("more GPUs that are slower do not come nearest to a deadline") {
  RecommendationRequest request;
  request.deadline_s = 60;
  CHECK(chosen({option(1, 2), option(2, 1.5), option(4, 3)}, request).why_none ==
        "on 2 GPUs the run takes 1.5 h, up to 1.88 h, and the deadline is 1 min");
}

TEST_CASE("a job that does not fit is not what comes nearest to a limit") {
  std::vector<JobOption> options = four_options();
  for (std::size_t i = 1; i < options.size(); ++i) make_too_large(options[i]);
  RecommendationRequest request;
  request.deadline_s = kHour;
  CHECK_THAT(chosen(options, request).why_none, Catch::Matchers::StartsWith("on 1 GPU the run takes 16 h"));
  make_too_large(options[0]);
  CHECK(chosen(options).why_none == "on 8 GPUs 32 samples per GPU do not fit into its memory");
  CHECK(chosen({}).why_none == "no partition gives a number of GPUs that the strategy can use");
}

TEST_CASE("limits print without powers of ten") {
  RecommendationRequest request;
  request.budget_gpu_hours = 12'345;
  CHECK(chosen({option(64, 2000)}, request).why_none ==
        "on 64 GPUs the run takes 128000 GPU-hours, and the budget is 12345");
  request = {};
  request.deadline_s = 30;
  CHECK_THAT(chosen({option(1, 5000)}, request).why_none,
             ContainsSubstring("takes 5000 h, up to 6250 h, and the deadline is 30 s"));
}

TEST_CASE("runners-up are the best by the two other goals") {
  CHECK(runners_up_of(chosen(four_options())) == std::vector<int>{8, 1});
  CHECK(runners_up_of(chosen(four_options(), goal(Goal::fastest))) == std::vector<int>{4, 1});
  CHECK(runners_up_of(chosen(four_options(), goal(Goal::cheapest))) == std::vector<int>{4, 8});
}

TEST_CASE("where one job is best by all goals, the next by this goal follow, none twice and two at most") {
  const std::vector<JobOption> options{option(1, 16), option(2, 7), option(4, 9), option(8, 8)};
  CHECK(runners_up_of(chosen(options, goal(Goal::fastest))) == std::vector<int>{8, 4});
  CHECK(runners_up_of(chosen(options, goal(Goal::cheapest))) == std::vector<int>{1, 4});
  CHECK(runners_up_of(chosen({option(1, 16), option(2, 7)})) == std::vector<int>{1});
  CHECK(chosen({option(1, 16)}).runners_up.empty());
}

TEST_CASE("a runner-up says what it gives and takes") {
  const Recommendation r = chosen(four_options());
  REQUIRE(r.runners_up.size() == 2);
  CHECK(r.best->trade.empty());
  CHECK(r.runners_up[0].trade == "20 % faster, 1.6 x dearer");   // 4 h for 5, 32 for 20
  CHECK(r.runners_up[1].trade == "3.2 x slower, 20 % cheaper");  // 16 h for 5, 16 for 20
}

TEST_CASE(
    "a trade leaves out what nobody notices, prints large factors whole, and knows no price of nothing") {
  std::vector<JobOption> options{option(1, 90), option(96, 1)};
  CHECK(chosen(options, goal(Goal::fastest)).runners_up[0].trade == "90 x slower, 6 % cheaper");  // 90 for 96
  options[0] = option(1, 95.5);
  CHECK(chosen(options, goal(Goal::fastest)).runners_up[0].trade == "96 x slower");
  for (JobOption& job : options) job.cost = 0;
  CHECK(chosen(options, goal(Goal::fastest)).runners_up[0].trade == "96 x slower");
  for (JobOption& job : options) job.point.total_s = 0;
  CHECK(chosen(options, goal(Goal::fastest)).runners_up[0].trade.empty());
}

TEST_CASE("the wait in the queue is shown when one is given") {
  CHECK_FALSE(chosen(four_options()).has_queue_wait);
  RecommendationRequest request;
  request.queue_waits_s[8] = kHour;
  CHECK(chosen(four_options(), request).has_queue_wait);
}

TEST_CASE("each kind of strategy is started as its users do") {
  struct Row {
    const char* strategy;
    Launcher launcher;
    int processes, tasks;
  };
  for (const Row& row :
       {Row{"ddp", Launcher::torchrun, 4, 1}, Row{"fsdp", Launcher::torchrun, 4, 1},
        Row{"horovod", Launcher::horovodrun, 4, 4}, Row{"zero2", Launcher::deepspeed, 4, 1},
        Row{"data_parallel", Launcher::python, 1, 1}, Row{"mirrored", Launcher::python, 1, 1},
        Row{"multi_worker_mirrored", Launcher::srun, 1, 1}}) {
    INFO(row.strategy);
    const JobPlan plan = plan_of(test::resnet_scenario(), on_eight(row.strategy));
    CHECK(plan.launcher == row.launcher);
    CHECK(plan.processes_per_node == row.processes);
    CHECK(tasks_per_node(plan) == row.tasks);
  }
}

TEST_CASE("the scenario's launch is kept for its own strategy and no other") {
  Scenario scenario = test::resnet_scenario();
  scenario.launch = {{Launcher::srun, 2}, {}};
  const JobPlan own = plan_of(scenario, on_eight("ddp"));
  CHECK(own.launcher == Launcher::srun);
  CHECK(own.processes_per_node == 2);
  CHECK(tasks_per_node(own) == 2);
  const JobPlan other = plan_of(scenario, on_eight("zero1"));
  CHECK(other.launcher == Launcher::deepspeed);
  CHECK(other.processes_per_node == 4);
}

TEST_CASE("a plan has each node's part of the job and what the site calls its GPUs") {
  Scenario scenario = test::resnet_scenario();  // nodes of 4 GPUs, 40 cores
  scenario.cluster.site.gpu_type = "v100", scenario.cluster.site.constraints = {"gpu", "big"};
  scenario.epochs = 90;
  JobOption job = on_eight("ddp");
  job.accumulation = 2;
  const JobPlan plan = plan_of(scenario, job);
  CHECK(plan.nodes == 2);
  CHECK(plan.gpus_per_node == 4);
  CHECK(plan.cores_per_node == 40);
  CHECK(plan.time_limit_s == 5 * kHour);
  CHECK(plan.workers_per_gpu == 6);
  CHECK(plan.partition == "gpu");
  CHECK(plan.gpu_type == "v100");
  CHECK(plan.constraint == "gpu");
  CHECK(plan.batch_per_gpu == 32);
  CHECK(plan.accumulation == 2);
  CHECK(plan.global_batch == 256);
  CHECK(plan.epochs == 90);
}

TEST_CASE("a limit of weeks is not cut short") {
  JobOption job = on_eight("ddp");
  job.time_limit_s = 40 * 86'400;
  CHECK(plan_of(test::resnet_scenario(), job).time_limit_s == 40 * 86'400);
}

TEST_CASE("a site without a batch system gets a Slurm script, a pool of HTCondor its own") {
  Scenario scenario = test::resnet_scenario();
  CHECK(plan_of(scenario, on_eight("ddp")).system == BatchSystem::slurm);
  scenario.cluster.site.system = BatchSystem::htcondor,
  scenario.cluster.site.requirements = "Capability == 7.5";
  const JobPlan plan = plan_of(scenario, on_eight("ddp"));
  CHECK(plan.system == BatchSystem::htcondor);
  CHECK(plan.requirements == "Capability == 7.5");
}

TEST_CASE("a job's name has only what batch systems take") {
  Scenario scenario = test::resnet_scenario();
  scenario.model.name = "my net/v2.1$(x)";
  CHECK(plan_of(scenario, on_eight("ddp")).name == "my-net-v2-1--x-");
  scenario.model.name = std::string(100, 'a');
  CHECK(plan_of(scenario, on_eight("ddp")).name.size() == 40);
  scenario.model.name = "";
  CHECK(plan_of(scenario, on_eight("ddp")).name == "training");
}

}  // namespace job_choice_test
