// BytePS against Horovod as its authors measured both (docs/performance.md): 64 images per V100, fp32,
// servers on machines of their own.
#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/support/catch.hpp"

namespace byteps_measured {

using namespace foretrain;
using test::Figure;

namespace {

double step_s(const std::string& model, const std::string& cluster, const std::string& strategy, int gpus,
              bool apart) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = cluster, overrides.strategy = strategy;
  overrides.batch = 64;
  overrides.gpus = {gpus};
  if (apart) overrides.settings = {"strategy.dedicated_servers=true"};
  const Scenario scenario = make_scenario(overrides);
  return StepSimulator(scenario, gpus).simulate(gpus, 64, default_device_model(scenario)).step_s;
}

/// How much faster BytePS is, with as many servers as workers; 0: the same.
double gain(const std::string& model, const std::string& cluster, int gpus, bool apart = true) {
  return step_s(model, cluster, "horovod", gpus, false) / step_s(model, cluster, "byteps", gpus, apart) - 1;
}

}  // namespace

// Published: +100 % for VGG-16 and +44 % for ResNet-50 with 20 Gb/s, +17 and +7 % with 100 Gb/s. A NIC
// carries 2 x 31/32 of all gradients each way in the ring and all of them once in BytePS, which is what we
// have of it. Missed: ResNet-50's 0.1 GB hide behind backward here, 85 ms in a ring at the full rate of the
// NIC; with 100 Gb/s PCIe switches are the narrow place, and what BytePS does about them (sums behind each
// switch before anything leaves it) is not modelled.
TEST_CASE("BytePS is as much faster than Horovod as published, but for known misses") {
  std::vector<Figure> figures;
  const auto add = [&](const char* model, const char* rate, int gpus, double published) {
    const double ours = 1 + gain(model, std::string("byteps-v100-") + rate, gpus);
    figures.push_back(
        Figure::within(fmt::format("{} on {} GPUs with {}", model, gpus, rate), published, ours, 0.10));
  };
  for (const int gpus : {32, 64}) {
    add("vgg16", "20g", gpus, 2.00);
    add("resnet50", "20g", gpus, 1.44);
  }
  add("vgg16", "100g", 32, 1.17);
  add("resnet50", "100g", 32, 1.07);
  test::check_figures("byteps_measured/throughput over Horovod's", figures);
}

TEST_CASE(
    "BytePS gains most where the network is slow and the gradients are large, and never loses to Horovod "
    "with 20 Gb/s") {
  for (const int gpus : {32, 64}) {
    const double resnet = gain("resnet50", "byteps-v100-20g", gpus),
                 vgg = gain("vgg16", "byteps-v100-20g", gpus);
    INFO(gpus << " GPUs: ResNet-50 " << resnet << ", VGG-16 " << vgg);
    CHECK(resnet > 0);
    CHECK(resnet < vgg);
  }
  for (const char* model : {"resnet50", "vgg16"})
    CHECK(gain(model, "byteps-v100-100g", 32) < gain(model, "byteps-v100-20g", 32));
}

TEST_CASE("servers on the workers' nodes gain less than servers on machines of their own") {
  CHECK(gain("vgg16", "byteps-v100-20g", 32, false) < gain("vgg16", "byteps-v100-20g", 32) - 0.2);
}

}  // namespace byteps_measured
