// Steps are simulated once, and launches and samplers change what they are worth.
#include "sim/analysis/step/point_predictor.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace point_predictor_test {

using namespace foretrain;

namespace {

Scenario scenario_with(Launch launch, Sampler sampler) {
  Scenario scenario = test::resnet_scenario({1, 4, 8});
  scenario.workload.data.samples = 32 * 80;
  scenario.workload.data.loader = LoaderKind::none;
  scenario.launch = launch, scenario.sampler = sampler;
  return scenario;
}

PredictionPoint point_of(const Scenario& scenario, int gpus) {
  PointPredictor points(scenario, gpus);
  Decisions decisions;
  return points.point(gpus, decisions);
}

}  // namespace

TEST_CASE("a step is simulated once: the second answer is the same object") {
  const Scenario scenario = test::mnist_scenario();
  PointPredictor points(scenario, 4);
  CHECK(&points.step(2) == &points.step(2));
  CHECK(points.throughput(2).samples_per_s == Approx(2 * 32 / points.step(2).step_s));
}

TEST_CASE("one process on four reserved GPUs trains as on one GPU and pays for four") {
  const PredictionPoint one = point_of(scenario_with({}, Sampler::distributed), 1);
  const PredictionPoint wrong = point_of(scenario_with({{Launcher::python, 0}, {}}, Sampler::distributed), 4);
  CHECK(wrong.step_s == one.step_s);
  CHECK(wrong.samples_per_s == one.samples_per_s);
  CHECK(wrong.epoch_s == one.epoch_s);
  CHECK(wrong.global_batch == 32);
  CHECK(wrong.steps_per_epoch == 80);
  CHECK(wrong.gpus == 4);
  CHECK(wrong.memory.total() == one.memory.total());  // nothing of NCCL
  CHECK(wrong.gpu_hours == Approx(4 * wrong.total_s / 3600));
}

TEST_CASE("without a sampler an epoch keeps its steps, so more GPUs make it longer") {
  const PredictionPoint one = point_of(scenario_with({}, Sampler::none), 1);
  const PredictionPoint four = point_of(scenario_with({}, Sampler::none), 4);
  const PredictionPoint shared = point_of(scenario_with({}, Sampler::distributed), 4);
  CHECK(four.steps_per_epoch == 80);
  CHECK(shared.steps_per_epoch == 20);
  CHECK(four.step_s == shared.step_s);
  CHECK(four.epoch_s > one.epoch_s);
  CHECK(four.samples_per_s == Approx(32 / four.step_s));  // 128 samples a step, each of them four times
}

TEST_CASE("nodes that train on the same shares keep the epoch's length and lose half of its samples") {
  const PredictionPoint same = point_of(scenario_with({}, Sampler::local_rank), 8);
  const PredictionPoint right = point_of(scenario_with({}, Sampler::distributed), 8);
  CHECK(same.epoch_s == right.epoch_s);
  CHECK(same.samples_per_s == Approx(right.samples_per_s / 2));
}

TEST_CASE("in strong scaling the GPUs that work share the global batch") {
  Scenario scenario = scenario_with({{Launcher::srun, 2}, {}}, Sampler::distributed);
  scenario.global_batch = 64;
  const PredictionPoint p = point_of(scenario, 8);  // two processes on each of two nodes
  CHECK(p.batch_per_gpu == 16);
  CHECK(p.global_batch == 64);
}

TEST_CASE("a training without end is refused, with what takes longest") {
  const auto refusal = [](const Scenario& scenario) {
    try {
      point_of(scenario, 4);
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
    return std::string("none");
  };
  Scenario scenario = scenario_with({}, Sampler::distributed);
  scenario.epochs = 1e6;
  CHECK(refusal(scenario) == "none");
  Periodic checkpoint;
  checkpoint.name = "checkpoint", checkpoint.bandwidth = {1};  // about 90 MB: 10^6 times three years
  scenario.periodic = {checkpoint};
  CHECK(refusal(scenario) == "the training would take longer than 100000000 days on 4 GPUs: checkpoints");
  scenario.periodic.clear();
  scenario.workload.data.samples = 1'000'000'000'000'000;
  CHECK_THAT(refusal(scenario), ContainsSubstring("on 4 GPUs: 1e+06 epochs of "));
}

TEST_CASE("over many micro-steps no account falls below zero, and all of them sum to the step") {
  Scenario scenario = scenario_with({}, Sampler::distributed);
  scenario.strategy = "byteps";
  for (const int accumulation : {8, 9, 100, 4096}) {
    scenario.knobs.accumulation = accumulation;
    const PredictionPoint p = point_of(scenario, 8);
    double sum = 0;
    for (const double account : p.breakdown) {
      CHECK(account >= 0);
      sum += account;
    }
    CHECK(sum == Approx(p.step_s));
  }
}

}  // namespace point_predictor_test
