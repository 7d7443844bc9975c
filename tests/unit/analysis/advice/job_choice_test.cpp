// Which made-up jobs are out and why; what a job script needs for the one that is chosen.
#include "sim/analysis/advice/recommend.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/made_up_jobs.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace job_choice_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

void make_too_large(JobOption& job) { job.point.memory.parameters = {2}, job.point.memory_capacity = {1}; }

JobOption on_eight(const std::string& strategy) {
  JobOption job = made_up_job(8, 4);
  job.strategy = strategy, job.time_limit_s = 5 * kHour, job.workers_per_gpu = 6, job.partition = "gpu";
  return job;
}

}  // namespace

TEST_CASE("a job that does not fit into memory, or trains on nothing, is never chosen") {
  std::vector<JobOption> options = four_jobs();
  make_too_large(options[3]);
  CHECK(best_of(options, with_goal(Goal::fastest)) == 4);
  options[2].point.steps_per_epoch = 0;  // drop_last left out everything
  CHECK(best_of(options, with_goal(Goal::fastest)) == 2);
}

TEST_CASE("when no job keeps the limits, the one that comes nearest says why") {
  RecommendationRequest request;
  request.deadline_s = kHour;
  const Recommendation late = chosen(four_jobs(), request);
  CHECK_FALSE(late.best);
  CHECK(late.runners_up.empty());
  CHECK(late.why_none == "on 8 GPUs the run takes 4 h, up to 5 h, and the deadline is 60 min");
  request = {};
  request.budget_gpu_hours = 10;
  CHECK(chosen(four_jobs(), request).why_none == "on 1 GPU the run takes 16 GPU-hours, and the budget is 10");
  request.deadline_s = 5.5 * kHour;  // which 8 GPUs keep
  CHECK(chosen(four_jobs(), request).why_none ==
        "on 8 GPUs the run takes 32 GPU-hours, and the budget is 10");
  request.deadline_s = 7 * kHour;  // which 4 GPUs keep, too, for fewer GPU-hours
  CHECK(chosen(four_jobs(), request).why_none ==
        "on 4 GPUs the run takes 20 GPU-hours, and the budget is 10");
}

TEST_CASE("more GPUs that are slower do not come nearest to a deadline") {
  RecommendationRequest request;
  request.deadline_s = 60;
  CHECK(chosen({made_up_job(1, 2), made_up_job(2, 1.5), made_up_job(4, 3)}, request).why_none ==
        "on 2 GPUs the run takes 1 h 30 min, up to 1 h 55 min, and the deadline is 60 s");
}

TEST_CASE("a job that does not fit is not what comes nearest to a limit") {
  std::vector<JobOption> options = four_jobs();
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
  CHECK(chosen({made_up_job(64, 2000)}, request).why_none ==
        "on 64 GPUs the run takes 128000 GPU-hours, and the budget is 12345");
  request = {};
  request.deadline_s = 30;
  CHECK_THAT(chosen({made_up_job(1, 5000)}, request).why_none,
             ContainsSubstring("takes 208 days, up to 260 days, and the deadline is 30 s"));
}

TEST_CASE("the wait in the queue is shown when one is given") {
  CHECK_FALSE(chosen(four_jobs()).has_queue_wait);
  RecommendationRequest request;
  request.queue_waits_s[8] = kHour;
  CHECK(chosen(four_jobs(), request).has_queue_wait);
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
