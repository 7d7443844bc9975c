// What runs of one scenario share changes nothing, and what is not read is not missed.
#include "sim/analysis/step/step_simulator.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace step_simulator_test {

using namespace foretrain;

namespace {

DeviceModel slower(DeviceModel device) {
  device.kernel.time_scale *= 1.2, device.host.time_scale *= 1.7, device.communication_time_scale *= 1.3;
  return device;
}

/// By a simulator that has simulated nothing else.
SimulatedStep alone(const Scenario& scenario, int gpus, std::int64_t batch, const DeviceModel& device) {
  return StepSimulator(scenario, 8).simulate(gpus, batch, device);
}

void check_equal(const SimulatedStep& a, const SimulatedStep& b) {
  CHECK(a.step_s == b.step_s);
  CHECK(a.breakdown == b.breakdown);
  CHECK(a.critical == b.critical);
  CHECK(a.waits == b.waits);
  CHECK(a.buckets == b.buckets);
  CHECK(a.decisions == b.decisions);
  REQUIRE(a.parts.size() == b.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    CHECK(a.parts[i].name == b.parts[i].name);
    CHECK(a.parts[i].seconds == b.parts[i].seconds);
  }
}

}  // namespace

TEST_CASE("steps simulated one after the other are to the last digit those of simulators of their own") {
  for (const std::string strategy : {"ddp", "horovod", "zero2", "fsdp", "data_parallel", "mirrored"}) {
    Scenario scenario = test::resnet_scenario({1, 2, 8});
    scenario.strategy = strategy;
    if (strategy == "mirrored")
      scenario.workload.framework = {FrameworkKind::tensorflow, Execution::graph, {}, {}};
    const StepSimulator simulator(scenario, 8);
    const DeviceModel device = default_device_model(scenario), other = slower(device);
    for (const int gpus : {2, 1, 2}) {
      INFO(strategy << " on " << gpus);
      check_equal(simulator.simulate(gpus, 32, device), alone(scenario, gpus, 32, device));
      check_equal(simulator.simulate(gpus, 20, device), alone(scenario, gpus, 20, device));
      check_equal(simulator.simulate(gpus, 32, other), alone(scenario, gpus, 32, other));
    }
  }
}

TEST_CASE("strategies that share a cluster's collectives have each its own steps") {
  const Scenario ddp = test::resnet_scenario({8});
  Scenario zero = ddp;
  zero.strategy = "zero2";
  const StepSimulator first(ddp, 8), second(zero, first);
  const DeviceModel device = default_device_model(ddp);
  const SimulatedStep of_ddp = first.simulate(8, device);
  check_equal(second.simulate(8, device), alone(zero, 8, 32, device));
  check_equal(of_ddp, alone(ddp, 8, 32, device));
}

TEST_CASE("the clock alone says the same as everything") {
  const Scenario scenario = test::resnet_scenario({8});
  const StepSimulator simulator(scenario, 8);
  const DeviceModel device = default_device_model(scenario);
  const SimulatedStep whole = simulator.simulate(8, device),
                      accounts = simulator.simulate(8, device, Reading::accounts);
  CHECK(simulator.step_s(8, device) == whole.step_s);
  CHECK(accounts.step_s == whole.step_s);
  CHECK(accounts.breakdown == whole.breakdown);
  CHECK(accounts.critical == whole.critical);
  CHECK(accounts.waits == whole.waits);
  CHECK(accounts.decisions == whole.decisions);
  CHECK(accounts.parts.empty());
  CHECK_FALSE(whole.parts.empty());
}

}  // namespace step_simulator_test
