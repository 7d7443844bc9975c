// Studies: every combination is predicted as its scenario by itself would be, what cannot run has a reason,
// mistakes are thrown at once.
#include "sim/analysis/search/study.hpp"

#include <cmath>
#include <functional>

#include "sim/analysis/evidence/applied.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace study_test {

using namespace foretrain;

namespace {

const std::string kText =
    "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[data]\nsamples = 6400\n";  // 6 lines, 4
                                                                                             // GPUs a node

StudyResult studied(const std::string& more, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  const SourceText source{"s.toml", kText + more};
  return run_study(read_study(source, overrides, read_scenario(source, overrides)));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

PredictionPoint predicted(const ScenarioOverrides& overrides, const std::string& more = "") {
  return predict(read_scenario({"s.toml", kText + more}, overrides)).points.at(0);
}

}  // namespace

TEST_CASE("runs of the scenario as it stands scale the model for all combinations, and are named") {
  test::use_source_catalogs();
  const SourceText source{"s.toml", kText + "[study]\nbatch = [32, 64]\ngpus = [1]\n"};
  const Scenario own = read_scenario(source, {});
  const StudyResult plain = run_study(read_study(source, {}, own));
  Observation row = step_question(own, own.workload.batch_per_gpu);
  row.source = "lab", row.predicted = plain.rows[0].point.step_s, row.measured = 1.1 * row.predicted;
  const ResidualField field(std::vector<Observation>{row});
  const StudyResult study = run_study(read_study(source, {}, own), nullptr, {&field, "own"});
  CHECK(study.rows[0].point.step_s == Approx(row.measured).epsilon(1e-4));
  CHECK(study.rows[1].point.step_s > plain.rows[1].point.step_s);
  REQUIRE(study.measured.size() == 1);
  CHECK(study.measured.front().runs == 1);
  CHECK(plain.measured.empty());
}

TEST_CASE("each combination is what predict says of its settings alone") {
  const StudyResult study =
      studied("[study]\nbatch = [32, 64]\nstrategy = [\"ddp\", \"horovod\"]\ngpus = [1, 4]\n");
  REQUIRE(study.rows.size() == 8);
  ScenarioOverrides alone;
  alone.batch = 64, alone.strategy = "horovod", alone.gpus = {4};
  const PredictionPoint point = predicted(alone), &row = study.rows[7].point;
  CHECK(study.rows[7].gpus == 4);
  CHECK(row.step_s == point.step_s);
  CHECK(row.epoch_s == point.epoch_s);
  CHECK(row.speedup == point.speedup);
  CHECK(row.memory.total() == point.memory.total());
}

TEST_CASE("the fastest has the shortest run, the cheapest the fewest GPU hours") {
  const StudyResult study = studied("[study]\nbatch = [32, 256]\ngpus = [1, 4]\n");
  for (const StudyRow& row : study.rows) {
    CHECK(row.point.total_s >= study.rows[study.fastest.value()].point.total_s);
    CHECK(row.point.gpu_hours >= study.rows[study.cheapest.value()].point.gpu_hours);
  }
  CHECK(study.rows[study.cheapest.value()].gpus == 1);  // a small network: four GPUs cost more than they save
}

TEST_CASE("without an axis of GPUs a combination has a line for every number that the scenario lists") {
  const StudyResult study = studied("[run]\ngpus = [2, 4]\n[study]\nbatch = [32, 64]\n");
  REQUIRE(study.rows.size() == 4);
  CHECK(study.rows[0].gpus == 2);
  CHECK(study.rows[1].gpus == 4);
  CHECK(text_of(study.rows[1].values[0]) == "32");
}

TEST_CASE("what cannot run stands in the table with its reason") {
  const StudyResult study = studied("[study]\nstrategy = [\"dp\", \"ddp\"]\ngpus = [4, 8, 100000]\n");
  REQUIRE(study.rows.size() == 6);
  CHECK(study.rows[0].why_not.empty());
  CHECK_THAT(study.rows[1].why_not, ContainsSubstring("data_parallel is one process"));
  CHECK(study.rows[2].why_not == "cluster puhti has 320 GPUs");
  CHECK(study.rows[4].why_not.empty());
  CHECK(study.rows[5].why_not == "cluster puhti has 320 GPUs");
}

TEST_CASE("a global batch that cannot be shared is a reason") {
  ScenarioOverrides strong;
  strong.settings = {"model.global_batch=2"};
  const StudyResult study = studied("[study]\nworkers = [1]\ngpus = [1, 4]\n", strong);
  CHECK(study.rows[1].why_not == "4 GPUs cannot share a global batch of 2");
}

TEST_CASE("an epoch without a step is a reason") {
  const StudyResult study = studied("drop_last = true\n[study]\nbatch = [64, 100]\ngpus = [1, 80]\n");
  REQUIRE(study.rows.size() == 4);
  CHECK(study.rows[1].why_not.empty());  // 6400 samples are 80 on each GPU
  CHECK(study.rows[3].why_not == "an epoch on 80 GPUs has no step");
}

TEST_CASE("a study of which nothing can run says why") {
  CHECK_THAT(message_of([] { studied("[study]\nstrategy = [\"dp\", \"mirrored\"]\ngpus = [8, 12]\n"); }),
             ContainsSubstring("none of the study's combinations can run") &&
                 ContainsSubstring("data_parallel is one process"));
}

TEST_CASE("a study of which nothing fits into memory has neither a fastest nor a cheapest") {
  const StudyResult none = studied("[study]\nbatch = [900_000, 1_000_000]\ngpus = [1, 4]\n");
  CHECK(none.rows.size() == 4);
  CHECK_FALSE(none.fastest);
  CHECK_FALSE(none.cheapest);
  const StudyResult some = studied("[study]\nbatch = [32, 1_000_000]\ngpus = [1, 4]\n");
  CHECK(some.rows[some.fastest.value()].point.batch_per_gpu == 32);
}

TEST_CASE("wrong values are reported where they stand, all at once and each once") {
  const std::string answer = message_of(
      [] { studied("[study]\nbatch = [32, 0]\nprecision = [\"fp32\", \"fp31\"]\ngpus = [1, 2]\n"); });
  CHECK_THAT(answer, ContainsSubstring(
                         "s.toml:8:14: error: model.batch_per_gpu must be an integer from 1 to 1000000"));
  CHECK_THAT(answer, ContainsSubstring("s.toml:9:22: error: unknown model.precision \"fp31\"") &&
                         ContainsSubstring("2 errors"));
  CHECK_THAT(message_of([] { studied("[study]\nstrategy = [\"ddp\", \"hrovod\"]\n"); }),
             ContainsSubstring("s.toml:8:20: error: ") && ContainsSubstring("did you mean \"horovod\""));
  CHECK_THAT(message_of([] { studied("[study]\nmodel = [\"resnet18\", \"resnet19\"]\n"); }),
             ContainsSubstring("s.toml:8:22: error: unknown model \"resnet19\""));
}

TEST_CASE("values that only together are a mistake are a reason") {
  const StudyResult study =
      studied("[study]\nstrategy = [\"ddp\", \"dp\"]\nlaunch = [\"torchrun\", \"python\"]\ngpus = [1]\n");
  REQUIRE(study.rows.size() == 4);
  CHECK(study.rows[0].why_not.empty());
  CHECK(study.rows[2].why_not ==
        "torchrun starts a process for each GPU; data_parallel is one process, which drives all GPUs: "
        "launch.with "
        "= \"python\"");
  CHECK(study.rows[3].why_not.empty());
}

TEST_CASE(
    "an anchor is fitted to the scenario as it stands and serves all combinations of its network and "
    "cluster") {
  const std::string anchor =
      "[run]\ngpus = [1]\n[measured]\nstep = \"50 ms\"\n[study]\nbatch = [32, 64]\ncluster = [\"puhti\", "
      "\"mahti\"]\n";
  const StudyResult study = studied(anchor),
                    plain = studied("[run]\ngpus = [1]\n[study]\nbatch = [32, 64]\ncluster = [\"mahti\"]\n");
  CHECK(study.rows[0].point.step_s == Approx(0.05).epsilon(1e-4));
  CHECK(study.rows[2].point.step_s > 0.04);  // scaled as well: without the anchor it is some milliseconds
  CHECK(study.rows[1].point.step_s == plain.rows[0].point.step_s);
  CHECK_THAT(study.decisions.list().front().why, ContainsSubstring("serves all of mnist_net on puhti"));
}

TEST_CASE("without samples the fastest has the most samples per second") {
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "puhti",
  overrides.settings = {"study.batch=[32,64]", "run.gpus=[1,4]"};
  test::use_source_catalogs();
  const StudyResult study = run_study(read_study({}, overrides, make_scenario(overrides)));
  for (const StudyRow& row : study.rows)
    CHECK(row.point.samples_per_s <= study.rows[study.fastest.value()].point.samples_per_s);
}

TEST_CASE("progress of a study ends at one") {
  test::use_source_catalogs();
  const SourceText source{"s.toml", kText + "[study]\nbatch = [32, 64]\ngpus = [1]\n"};
  std::vector<double> seen;
  run_study(read_study(source, {}, read_scenario(source, {})), [&](double done) { seen.push_back(done); });
  CHECK(seen == std::vector<double>{0.5, 1});
}

}  // namespace study_test
