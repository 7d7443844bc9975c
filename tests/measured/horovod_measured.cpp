// Horovod's scaling as others measured it: the paper's cluster, CSC's Puhti, and published rows of several
// frameworks.
#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace horovod_measured {

using namespace foretrain;
using test::Figure;

namespace {

/// tf_cnn_benchmarks, batch 64 per GPU, on as many nodes of four P100 as it takes.
Scenario on_ubers_cluster(const std::string& model, int gpus) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = "uber-p100-25g", overrides.strategy = "horovod";
  overrides.batch = 64;
  overrides.gpus = {1};
  overrides.settings = {"framework.name=\"tensorflow\"", "strategy.horovod_version=\"0.19\""};
  Scenario scenario = make_scenario(overrides);
  scenario.cluster.nodes = gpus / scenario.cluster.node.gpus;
  return scenario;
}

double efficiency(const Scenario& scenario, int gpus) {
  const StepSimulator simulator(scenario, gpus);
  const DeviceModel device = default_device_model(scenario);
  return simulator.simulate(1, 64, device).step_s / simulator.simulate(gpus, 64, device).step_s;
}

}  // namespace

// Horovod, docs/benchmarks.rst: 90 % of perfect scaling for the first two, 68 % for VGG-16. That is missed:
// its gradients come early in backward, and an assumed kernel speed leaves much to hide them behind.
TEST_CASE("efficiencies on 512 P100 with 25 Gb/s are Horovod's published ones, but for known misses") {
  std::vector<Figure> figures;
  for (const auto& [model, published] :
       {std::pair{"inception_v3", 0.90}, {"resnet101", 0.90}, {"vgg16", 0.68}})
    figures.push_back(Figure::within(model, published, efficiency(on_ubers_cluster(model, 512), 512), 0.06));
  test::check_figures("horovod_measured/512 P100", figures);
  CHECK(figures[2].ours < figures[0].ours + 0.02);  // VGG-16 scales no better than Inception V3
}

// CSC ml-benchmarks: 2220.04 (2022) and 2310.85 (2023-09) images/s on 8 GPUs. Ours 2453 (+10 % and +6 %),
// from 325.95 on one.
TEST_CASE("ResNet-50 on 8 GPUs of Puhti is met within 12 percent of both measurements") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const Scenario scenario =
      read_scenario(read_text_file(FORETRAIN_SOURCE_DIR "/scenarios/puhti-resnet50-horovod.toml"), {});
  const Prediction prediction = predict(scenario);
  double ours = 0;
  for (const PredictionPoint& point : prediction.points) {
    if (point.gpus == 8) ours = point.samples_per_s;
  }
  INFO(ours);
  CHECK(ours == Approx(2310.85).epsilon(0.12));
  CHECK(ours == Approx(2220.04).epsilon(0.12));
}

// 285 rows: NVIDIA's examples (TensorFlow, MXNet), DLPerf, Horovod's README. Ours 6.4 % in the median,
// perfect scaling 13.8 %.
TEST_CASE(
    "published rows with Horovod are met within eight percent in the median, twice as well as by perfect "
    "scaling") {
  MeasurementFile file = test::measured_rows("scaling.csv");
  std::erase_if(file.scaling, [](const Measurement& row) { return row.strategy != "horovod"; });
  const Validation v =
      validate(file, {.anchor = true, .settings = {}, .provenance = test::measured_provenance()});
  INFO("median " << v.error.median << ", p90 " << v.error.p90 << ", bias " << v.error.bias << ", linear "
                 << v.linear.median);
  CHECK(v.scored >= 190);
  CHECK(v.skipped.empty());
  CHECK(v.error.median <= 0.08);
  CHECK(v.error.median < 0.5 * v.linear.median);
}

}  // namespace horovod_measured
