// The recommendation for people: what it asks for, in the words of the batch system, and what is left out.
#include "sim/report/prediction/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_recommendation.hpp"

namespace recommendation_table_test {

using namespace foretrain;

TEST_CASE("a request says how many GPUs, where, and what to write") {
  const std::string text = write_recommendation(test::example_recommendation());
  CHECK_THAT(text,
             ContainsSubstring(
                 "Ask for 8 GPUs on 2 nodes of puhti, partition gpu with ddp (balanced).\n"
                 "  --nodes=2 --ntasks-per-node=1 --cpus-per-task=40 --gres=gpu:v100:4 --time=18:45:00\n"));
  Recommendation one = test::example_recommendation();
  one.best->point.gpus = one.best->point.nodes = one.plan.nodes = one.plan.gpus_per_node = 1;
  one.best->partition.clear(), one.plan.gpu_type.clear();
  CHECK_THAT(write_recommendation(one), ContainsSubstring("Ask for 1 GPU on 1 node of puhti with ddp") &&
                                            ContainsSubstring("--gres=gpu:1 "));
}

TEST_CASE("a request says when it is done, and how likely that is in time") {
  Recommendation r = test::example_recommendation();
  CHECK_THAT(write_recommendation(r),
             ContainsSubstring("\n  done in 12 h; 9 of 10 such runs take 9 h 25 min to 16 h\n"));
  r.deadline_s = 24 * 3600, r.best->keeps_deadline = 0.976;
  CHECK_THAT(write_recommendation(r),
             ContainsSubstring("with ddp (the smallest job that keeps the deadline).\n") &&
                 ContainsSubstring(
                     "\n  done in 12 h (9 h 25 min to 16 h), inside your 24 h with 98 % probability\n"));
  r.best->keeps_deadline = 0.997, r.deadline_s = 60 * 3600;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("your 2 d 12 h with more than 99 % probability\n"));
  r.goal = Goal::cheapest;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("with ddp (the cheapest job).\n"));
  r.goal = Goal::fastest;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("with ddp (the fastest job).\n"));
}

TEST_CASE("times are said as people say them") {
  Recommendation r = test::example_recommendation();
  const auto done_in = [&r](double seconds) {
    r.best->point.total_s = seconds;
    r.best->point.total_interval = {0.5 * seconds, 12 * seconds, 0.9};
    return write_recommendation(r);
  };
  CHECK_THAT(done_in(41), ContainsSubstring("done in 41 s; 9 of 10 such runs take 20 s to 8 min 12 s\n"));
  CHECK_THAT(done_in(86 * 86'400),
             ContainsSubstring("done in 86 days; 9 of 10 such runs take 43 to 1032 days"));
}

TEST_CASE("smaller and larger jobs are sentences") {
  const std::string text = write_recommendation(test::example_recommendation());
  CHECK_THAT(text,
             ContainsSubstring("\nLarger: 16 GPUs take 7 h 30 min: 40 % less time and 20 % more BU.\n") &&
                 ContainsSubstring("\nSmaller: 1 GPU takes 3 d 8 h: 6.4 times the time and 20 % fewer "
                                   "BU.\n"));
}

TEST_CASE("time limits are written as Slurm does") {
  Recommendation r = test::example_recommendation();
  r.plan.time_limit_s = 900;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("--time=00:15:00"));
  r.plan.time_limit_s = 24 * 3600;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("--time=1-00:00:00"));
  r.plan.time_limit_s = 40 * 86'400 + 3600;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("--time=40-01:00:00"));
}

TEST_CASE("a launcher that starts no processes gets a task and its cores for each") {
  Recommendation r = test::example_recommendation();
  r.plan.launcher = Launcher::srun;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("--ntasks-per-node=4 --cpus-per-task=10 "));
  r.plan.cores_per_node = 2;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("--ntasks-per-node=4 --cpus-per-task=1 "));
}

TEST_CASE("a pool of HTCondor is asked in its own words") {
  Recommendation r = test::example_recommendation();
  r.plan.system = BatchSystem::htcondor, r.plan.nodes = 1;
  const std::string text = write_recommendation(r);
  CHECK_THAT(text,
             ContainsSubstring("\n  request_gpus = 4, request_cpus = 40, allowed_job_duration = 67500\n"));
  CHECK(text.find("--nodes") == std::string::npos);
}

TEST_CASE("micro-steps are said, unknown memory, energy and waits are not") {
  Recommendation r = test::example_recommendation();
  r.best->accumulation = 4, r.best->workers_per_gpu = 1;
  r.plan.memory_per_node = {};
  r.best->energy_kwh = 0;
  const std::string text = write_recommendation(r);
  r.best->workers_per_gpu = 0, r.best->accumulation = 1;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("  batch 32 per GPU, 256 in all\n"));
  CHECK_THAT(text, ContainsSubstring(
                       "  batch 32 per GPU and micro-step, 4 of them, 256 in all; 1 worker per GPU\n"));
  CHECK_THAT(text, ContainsSubstring("100        -      6000\n"));
  CHECK(text.find("queue") == std::string::npos);
  r.has_queue_wait = true, r.best->time_to_result_s += 7200;
  CHECK_THAT(write_recommendation(r), ContainsSubstring("with queue") && ContainsSubstring(" 14 h 30 min "));
}

TEST_CASE("costs have a column of their own unless they are GPU-hours, and no line ends in spaces") {
  Recommendation r = test::example_recommendation();
  CHECK_THAT(write_recommendation(r), ContainsSubstring("     kWh        BU\n"));
  r.cost_unit.clear();
  CHECK_THAT(write_recommendation(r), ContainsSubstring("     kWh      cost\n"));
  r.cost_unit = "GPU-h";
  CHECK_THAT(write_recommendation(r), ContainsSubstring("     kWh\n"));
  CHECK(write_recommendation(r).find(" \n") == std::string::npos);
}

TEST_CASE("without a job the reason is told") {
  Recommendation none;
  none.why_none = "on 8 GPUs the run takes 4 h, up to 5 h, and the deadline is 1 h";
  CHECK(write_recommendation(none) ==
        "\nNo job to recommend: on 8 GPUs the run takes 4 h, up to 5 h, and the deadline is 1 h.\n");
}

}  // namespace recommendation_table_test
