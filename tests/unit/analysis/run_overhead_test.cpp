// What a run does besides its steps, each part by hand.
#include "sim/analysis/step/epoch.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace run_overhead_test {

using namespace foretrain;

namespace {

RunOverhead overhead(const Scenario& scenario, int gpus = 1, double restart_s = 0) {
  const StepSimulator simulator(scenario, gpus);
  return run_overhead(simulator, default_device_model(scenario), gpus, restart_s);
}

Periodic lasting(const char* name, double every_epochs, double seconds_each) {
  Periodic work;
  work.name = name, work.every_epochs = every_epochs, work.duration = seconds(seconds_each);
  return work;
}

}  // namespace

TEST_CASE("work of a given duration counts as often as it falls due") {
  Scenario scenario = test::mnist_scenario();
  scenario.epochs = 10;
  scenario.startup = seconds(30);
  scenario.periodic = {lasting("validation", 1, 2), lasting("checkpoint", 4, 5), lasting("never", 11, 1000),
                       lasting("upload", 5, 7)};
  const RunOverhead result = overhead(scenario, 1, 0.25);
  CHECK(result.startup_s == 30);
  CHECK(result.loader_restart_s == 10 * 0.25);
  CHECK(result.validation_s == 10 * 2);
  CHECK(result.checkpoint_s == 2 * 5);
  CHECK(result.periodic_s == 2 * 7);
  CHECK(result.total_s() == 30 + 2.5 + 20 + 10 + 14);
}

TEST_CASE("a checkpoint writes weights, buffers and optimizer state at the storage's rate") {
  Scenario scenario = test::resnet_scenario();
  scenario.epochs = 3;
  scenario.workload.optimizer.kind = OptimizerKind::momentum;
  // ResNet-18: 11,689,512 weights and as many momenta; 20 norms over 4,800 channels, each with mean, variance
  // and a counter.
  const std::int64_t bytes = 8 * 11'689'512LL + 20 * 8 + 8 * 4800;
  CHECK(checkpoint_bytes(scenario.workload).count == bytes);
  Periodic checkpoint;
  checkpoint.name = "checkpoint", checkpoint.bandwidth = ByteRate{2e9};
  scenario.periodic = {checkpoint};
  CHECK(overhead(scenario).checkpoint_s == Approx(3 * static_cast<double>(bytes) / 2e9));
}

TEST_CASE(
    "a validation pass is its batches, shared by the ranks, and shorter than training on as many samples") {
  Scenario scenario = test::resnet_scenario();
  Periodic validation;
  validation.name = "validation", validation.samples = 6400;
  scenario.periodic = {validation};
  const StepSimulator simulator(scenario, 8);
  const DeviceModel device = default_device_model(scenario);
  const double forward = simulator.simulate_evaluation(1, 32, device),
               step = simulator.simulate(1, device).step_s;
  CHECK(forward < step / 2);  // a forward pass is a third of the work
  CHECK(forward > step / 8);
  CHECK(overhead(scenario, 1).validation_s ==
        Approx(loader_restart_s(scenario.workload, scenario.cluster.node) + 200 * forward));
  CHECK(overhead(scenario, 8).validation_s ==
        Approx(loader_restart_s(scenario.workload, scenario.cluster.node) +
               25 * simulator.simulate_evaluation(8, 32, device)));
  scenario.periodic[0].batch_per_gpu = 64;
  const double larger = simulator.simulate_evaluation(1, 64, device);
  CHECK(overhead(scenario, 1).validation_s ==
        Approx(loader_restart_s(scenario.workload, scenario.cluster.node) + 100 * larger).epsilon(1e-3));
}

TEST_CASE("start-up by default is imports, CUDA, weights, NCCL and the first step, slower on slower hosts") {
  Scenario scenario = test::mnist_scenario();
  scenario.cluster.node.host.slowdown = 2;
  const Startup one = usual_startup(scenario, 1), eight = usual_startup(scenario, 8);
  CHECK(one.imports_s == Approx(2 * 1.6));
  CHECK(one.nccl_s == 0);
  CHECK(eight.nccl_s == Approx(2 * 0.5 + 8 * 0.002));
  CHECK(one.first_step_s == Approx(2 * (0.5 + 2 * 0.015)));  // two convolutions
  CHECK(one.weights_s == Approx(2 * 1'199'882 / 1e8));
  CHECK(overhead(scenario).startup_s == Approx(one.total_s()));
  // The same network at Princeton: a job of 38 s whose three epochs take 31 s.
  CHECK(one.total_s() > 4);
  CHECK(one.total_s() < 9);
}

TEST_CASE("compilers and graphs take longer before the first step") {
  Scenario scenario = test::resnet_scenario();
  const double eager = usual_startup(scenario, 1).first_step_s;
  scenario.workload.framework.execution = Execution::compiled;
  CHECK(usual_startup(scenario, 1).first_step_s > 5 * eager);
  scenario.workload.framework = usual_framework(FrameworkKind::tensorflow);
  CHECK(usual_startup(scenario, 1).first_step_s > eager);
}

TEST_CASE("launchers import the framework before the training processes do") {
  Scenario scenario = test::mnist_scenario();
  const double plain = usual_startup(scenario, 1).imports_s;
  const auto imports = [&scenario](Launcher launcher) {
    scenario.launch.with = launcher;
    return usual_startup(scenario, 1).imports_s;
  };
  for (const Launcher launcher : {Launcher::srun, Launcher::mpirun, Launcher::horovodrun, Launcher::python})
    CHECK(imports(launcher) == plain);
  CHECK(imports(Launcher::torchrun) == Approx(2 * plain));
  CHECK(imports(Launcher::mp_spawn) == Approx(2 * plain));
  CHECK(imports(Launcher::deepspeed) == Approx(3 * plain));
}

TEST_CASE("NCCL connects the GPUs that work") {
  Scenario scenario = test::mnist_scenario();
  scenario.launch.with = Launcher::python;
  CHECK(usual_startup(scenario, 4).nccl_s == 0);
}

}  // namespace run_overhead_test
