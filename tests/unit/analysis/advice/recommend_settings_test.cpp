// What a recommendation changes around the number of GPUs: micro-steps, workers, processes.
#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/causes/step_causes.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/recommended.hpp"

namespace recommend_settings_test {

using namespace foretrain;
using namespace foretrain::test;

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
  CHECK(has_note(recommended(scenario), "More than 10 workers on 10 cores per GPU do not help"));
}

TEST_CASE("predict and a recommendation advise the same workers, whatever decoding takes") {
  int advised = 0, kept = 0;
  for (const int decode_ms : {1, 4, 5, 6, 7, 8, 40}) {
    Scenario scenario = scaling_scenario();
    scenario.workload.data.loader = LoaderKind::torch;
    scenario.workload.data.workers_per_gpu = 2;
    scenario.workload.data.decode = microseconds(1000 * decode_ms);
    INFO(decode_ms << " ms");
    const Recommendation r = recommended(scenario);
    REQUIRE(r.best);
    PointPredictor points(scenario, r.best->point.gpus);
    const auto remedy = input_remedy(points, r.best->point.gpus, {});
    CHECK(r.best->workers_per_gpu == (remedy ? remedy->workers : 2));
    remedy ? ++advised : ++kept;
  }
  CHECK(advised > 0);
  CHECK(kept > 0);
}

TEST_CASE("workers of a process that drives several GPUs are advised for each process") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.workers_per_gpu = 1;
  scenario.workload.data.decode = milliseconds(20);
  scenario.workload.data.per_process = true;
  PointPredictor points(scenario, 4);
  const auto remedy = input_remedy(points, 4, {4});
  REQUIRE(remedy);
  CHECK(remedy->unit == "process");
  Answer answer;
  answer.remedy = remedy, answer.counts = {4};
  answer.causes = causes_of(points, 4);
  Decisions ignored;
  CHECK_THAT(waits_words(answer, points.point(4, ignored)),
             ContainsSubstring(" loader workers for each process instead of 1"));
  scenario.workload.data.per_process = false;
  PointPredictor of_gpus(scenario, 4);
  CHECK(input_remedy(of_gpus, 4, {4})->unit == "GPU");
}

TEST_CASE("worker processes are advised only where the user sets them") {
  Scenario scenario = scaling_scenario();
  scenario.workload.data.workers_per_gpu = 1;
  scenario.workload.data.decode = milliseconds(100);
  const auto check_no_workers = [](const Recommendation& r) {
    REQUIRE(r.best);
    CHECK(r.best->workers_per_gpu == 0);
    CHECK(r.plan.workers_per_gpu == 0);
    CHECK_FALSE(has_note(r, "worker"));
  };
  for (const LoaderKind loader : {LoaderKind::tf_data, LoaderKind::dali_cpu}) {
    INFO(name_of(loader));
    scenario.workload.data.loader = loader;
    check_no_workers(recommended(scenario));
    CHECK(has_note(recommended(scenario), " % of the step waits for input: decode less"));
  }
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.framework.kind = FrameworkKind::tensorflow;
  check_no_workers(recommended(scenario));
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

TEST_CASE("a recommended job starts one process per GPU, whatever the scenario's launch leaves idle") {
  Scenario scenario = scaling_scenario();
  scenario.launch.with = Launcher::python;
  const Recommendation r = recommended(scenario, goal(Goal::fastest));
  REQUIRE(r.best);
  CHECK(r.best->point.gpus == 16);
  CHECK(r.plan.launcher == Launcher::torchrun);
  CHECK(has_note(r, "python alone starts one"));
  scenario.launch = {{Launcher::srun, 1}, {}};
  const Recommendation by_srun = recommended(scenario, goal(Goal::fastest));
  CHECK(by_srun.best->point.gpus == 16);
  CHECK(by_srun.plan.launcher == Launcher::srun);
  CHECK(by_srun.plan.processes_per_node == 4);
}

}  // namespace recommend_settings_test
