// BytePS against Horovod as its authors measured both (docs/performance.md): 64 images per V100, fp32, servers on machines of their own.
#include "sim/analysis/predict.hpp"
#include "sim/analysis/step_simulator.hpp"
#include "sim/scenario/reader.hpp"
#include "tests/support/catch.hpp"

namespace byteps_measured {

using namespace foretrain;

namespace {

double step_s(const std::string& model, const std::string& cluster, const std::string& strategy, int gpus, bool apart) {
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

// Published +100 %; ours +57 % on 32 GPUs: a NIC carries 2 x 31/32 of all gradients each way in the ring, all of them once in BytePS.
TEST_CASE("with 20 Gb/s BytePS trains VGG-16 at least 40 percent faster than Horovod on 32 and 64 V100") {
  for (const int gpus : {32, 64}) {
    const double ours = gain("vgg16", "byteps-v100-20g", gpus);
    INFO(gpus << " GPUs: " << ours);
    CHECK(ours > 0.4);
    CHECK(ours < 1);
  }
}

// Published +44 %; ours under 1 %: gradients of 0.1 GB, 85 ms in a ring at the full rate of the NIC, hide behind backward. Known to be
// wrong by that much; the direction is right.
TEST_CASE("with 20 Gb/s BytePS is no slower than Horovod with ResNet-50 and gains less than with VGG-16") {
  for (const int gpus : {32, 64}) {
    const double ours = gain("resnet50", "byteps-v100-20g", gpus);
    INFO(gpus << " GPUs: " << ours);
    CHECK(ours > 0);
    CHECK(ours < gain("vgg16", "byteps-v100-20g", gpus));
  }
}

// Published +7 and +17 %; ours -1 and -2 %: PCIe switches, not the network, are the narrow place there, and what BytePS does about them
// (sums behind each switch before anything leaves it) is not modelled.
TEST_CASE("with 100 Gb/s and no NVLink BytePS and Horovod differ by less than with 20 Gb/s") {
  for (const char* model : {"resnet50", "vgg16"}) {
    const double ours = gain(model, "byteps-v100-100g", 32);
    INFO(model << ": " << ours);
    CHECK(ours == Approx(0).margin(0.04));
    CHECK(ours < gain(model, "byteps-v100-20g", 32));
  }
}

TEST_CASE("servers on the workers' nodes gain less than servers on machines of their own") {
  CHECK(gain("vgg16", "byteps-v100-20g", 32, false) < gain("vgg16", "byteps-v100-20g", 32) - 0.2);
}

}  // namespace byteps_measured
