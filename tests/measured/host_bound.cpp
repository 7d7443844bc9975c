// Networks whose step is the host's: ResNet-56 in TensorFlow on MASSIVE M3 against the published chart, the
// MNIST nets and the spiral perceptron on every GPU since the P100, and the MNIST step of Princeton's
// tutorial.
#include <filesystem>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/device/host_time.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/support/catch.hpp"

namespace host_bound {

using namespace foretrain;
using test::Figure;

namespace {

void use_source_catalogs() { setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1); }

SimulatedStep one_gpu_step(const Scenario& scenario) {
  return StepSimulator(scenario, 1).simulate(1, default_device_model(scenario));
}

double m3_images_per_s(const std::string& cluster) {
  use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.cluster = cluster;
  const Scenario scenario =
      read_scenario(read_text_file(FORETRAIN_SOURCE_DIR "/scenarios/m3-resnet56-one.toml"), overrides);
  return 128 / one_gpu_step(scenario).step_s;
}

Gpu gpu_named(const std::string& name) {
  Diagnostics problems(*open_named(CatalogKind::gpus, name));
  return read_gpu(*open_named(CatalogKind::gpus, name), problems);
}

/// A question about one GPU of another kind in a node of `cluster`.
Scenario question(const std::string& model, const std::string& cluster, std::vector<std::string> settings) {
  use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = cluster, overrides.strategy = "single", overrides.gpus = {1};
  overrides.settings = std::move(settings);
  return make_scenario(overrides);
}

/// Of the critical path: what a slower host would make longer.
double host_share(const SimulatedStep& step) {
  double sum = 0;
  for (const double part : step.critical) sum += part;
  return (step.critical[static_cast<std::size_t>(Account::host)] +
          step.critical[static_cast<std::size_t>(Account::input_stall)]) /
         sum;
}

/// A host of the GPU's time (docs/models/host.md).
double usual_slowdown(const Gpu& gpu) {
  if (gpu.architecture <= Architecture::pascal) return 2.4;
  if (gpu.architecture <= Architecture::turing) return 2.0;
  return gpu.architecture == Architecture::ampere ? 1.8 : 1.5;
}

/// Not the small cards for inference (P4, T4), which are newer or as old but compute less, nor those whose
/// memory is half as fast.
bool is_since_p100(const Gpu& gpu) {
  const Gpu p100 = gpu_named("p100-pcie-16gb");
  return gpu.architecture >= Architecture::pascal && !(gpu.fp32 < p100.fp32) &&
         !(gpu.memory_bandwidth < p100.memory_bandwidth * 0.5);
}

}  // namespace

// Digitised from the chart of ML4AU/M3-GPU-jobs, images/s on one GPU at batch 128 (docs/sources/host.md 4
// §1).
TEST_CASE("ResNet-56 on one GPU of MASSIVE M3 runs at the published rates, in their order and ratios") {
  const double k80 = m3_images_per_s("m3-k80"), p100 = m3_images_per_s("m3-p100"),
               v100 = m3_images_per_s("m3-v100");
  INFO("K80 " << k80 << ", P100 " << p100 << ", V100 " << v100 << " images/s");
  CHECK(k80 < p100);
  CHECK(p100 < v100);
  CHECK(p100 / k80 == Approx(1379.0 / 562).epsilon(0.20));
  CHECK(v100 / p100 == Approx(1674.0 / 1379).epsilon(0.20));
  CHECK(v100 / k80 == Approx(1674.0 / 562).epsilon(0.20));
}

TEST_CASE("ResNet-56 is the host's on P100 and V100, so a P4 with half the arithmetic is as fast as a P100") {
  use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.cluster = "m3-p100";
  Scenario scenario =
      read_scenario(read_text_file(FORETRAIN_SOURCE_DIR "/scenarios/m3-resnet56-one.toml"), overrides);
  const SimulatedStep p100 = one_gpu_step(scenario);
  CHECK(host_share(p100) > 0.5);
  scenario.cluster.node.gpu = gpu_named("p4");
  const double p4_over_p100 = p100.step_s / one_gpu_step(scenario).step_s;
  test::check_figures("host_bound/resnet56",
                      {test::Figure::within("P4 over P100", 1380.0 / 1379, p4_over_p100, 0.15)});
}

TEST_CASE(
    "the step of small networks is dominated by the host on every GPU since the P100 that computes as fast") {
  struct Small {
    std::string model;
    std::vector<std::string> settings;
  };
  const Small networks[] = {
      {"spiral_mlp", {"model.batch_per_gpu=32", "model.optimizer=adam"}},
      {"mnist_net", {"model.batch_per_gpu=64", "model.optimizer=adadelta", "data.name=mnist"}},
      {"mnist_convnet_csc", {"model.batch_per_gpu=100", "data.name=mnist"}},
      {"mnist_tf",
       {"model.batch_per_gpu=64", "framework.name=tensorflow", "data.name=mnist", "data.loader=tf_data"}}};
  use_source_catalogs();
  int gpus = 0;
  for (const std::string& name : names_in(CatalogKind::gpus)) {
    const Gpu gpu = gpu_named(name);
    if (!is_since_p100(gpu)) continue;
    ++gpus;
    for (const Small& network : networks) {
      Scenario scenario = question(network.model, "raven", network.settings);
      scenario.cluster.node.gpu = gpu;
      scenario.cluster.node.host.slowdown = usual_slowdown(gpu);
      const SimulatedStep step = one_gpu_step(scenario);
      INFO(network.model << " on " << name << ": " << step.step_s * 1e6 << " us, host " << host_share(step));
      CHECK(host_share(step) > 0.5);
    }
  }
  CHECK(gpus >= 25);
}

// PrincetonUniversity/multi_gpu_training 01_single_gpu, batch 64 on an A100 PCIe, under a line profiler; host
// microseconds per iteration (docs/measured/input.csv). The job had one core for script and loader worker
// (assumed), so calls may have taken longer there.
TEST_CASE("the MNIST step of Princeton's tutorial costs the host what was measured, but for known misses") {
  Scenario scenario = question("mnist_net", "raven",
                               {"model.batch_per_gpu=64", "model.optimizer=adadelta", "loop.profiler=line"});
  double forward = 0, backward = 0, optimizer = 0;
  const Workload& work = scenario.workload;
  const Host& host = scenario.cluster.node.host;
  const HostCalibration costs;
  for (const Operator& op : work.model->forward)
    forward += to_seconds(host_time(op, host, costs, work.precision)) * 1e6;
  for (const BackwardStep& step : work.model->backward)
    backward += to_seconds(host_time(step.op, host, costs, work.precision)) * 1e6;
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : work.model->parameters) tensors.push_back(parameter.elements);
  for (const OptimizerLaunch& launch : optimizer_launches(work.optimizer, tensors)) {
    optimizer += to_seconds(on_host(launch.host + costs.launch, host, costs)) * 1e6;
  }
  test::check_figures("host_bound/MNIST step",
                      {Figure::within("forward and loss in us", 422.6 + 29.0, forward, 0.15),
                       Figure::within("backward in us", 703.6, backward, 0.15),
                       Figure::within("Adadelta in us", 299.2, optimizer, 0.15)});
}

}  // namespace host_bound
