// More GPUs, less throughput: DataParallel in published comparisons (docs/measured/slower.csv) and in CHTC's
// example.
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/support/catch.hpp"

namespace slower_than_one {

using namespace foretrain;
using test::Figure;

namespace {

constexpr double kTolerance = 0.15;

Scenario scenario_named(const std::string& name) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  return read_scenario(read_text_file(FORETRAIN_SOURCE_DIR "/scenarios/" + name + ".toml"), {});
}

SimulatedStep step_on(const Scenario& scenario, int gpus) {
  const StepSimulator simulator(scenario, gpus);
  return simulator.simulate(gpus, simulator.batch_per_gpu(gpus), default_device_model(scenario));
}

/// Samples per second on `gpus` GPUs over those on one.
double throughput_ratio(const Scenario& scenario, int gpus) {
  const StepSimulator simulator(scenario, gpus);
  const auto rate = [&](int n) {
    return static_cast<double>(simulator.global_batch(n)) / step_on(scenario, n).step_s;
  };
  return rate(gpus) / rate(1);
}

double part(const SimulatedStep& step, Account account) {
  return step.breakdown[static_cast<std::size_t>(account)];
}

}  // namespace

// Measured 0.30 and 0.42 of one GPU on a server that is not named. Both are missed: the published steps on
// two and four GPUs (220 and 160 ms) follow 100 ms + 240 ms / GPUs: the second part is what this network
// takes in fp32 on a V100, while one GPU's 67 ms are not. So what ran on one GPU was probably not what ran on
// two (docs/models/replicated.md).
TEST_CASE(
    "DataParallel makes ResNet-50 on CIFAR-10 slower than one GPU, on two and on four, and the host is why") {
  const Scenario scenario = scenario_named("aisummer-resnet50-cifar-dp");
  const double two = throughput_ratio(scenario, 2), four = throughput_ratio(scenario, 4);
  CHECK(two < 1);
  CHECK(four < 1);
  test::check_figures("slower_than_one/dp", {Figure::within("2 GPUs over one", 0.30, two, kTolerance),
                                             Figure::within("4 GPUs over one", 0.42, four, kTolerance)});
  const SimulatedStep step = step_on(scenario, 4);
  CHECK(part(step, Account::host) > 0.5 * step.step_s);
}

// Measured 1.34 and 2.14 of one GPU; ours is with SyncBatchNorm, 1.88 and 3.67 without it.
TEST_CASE("DistributedDataParallel makes the same network faster on the same server") {
  const Scenario scenario = scenario_named("aisummer-resnet50-cifar-ddp");
  const double two = throughput_ratio(scenario, 2), four = throughput_ratio(scenario, 4);
  CHECK(two > 1);
  CHECK(four > two);
  test::check_figures("slower_than_one/ddp", {Figure::within("2 GPUs over one", 1.34, two, kTolerance),
                                              Figure::within("4 GPUs over one", 2.14, four, kTolerance)});
}

// "The two/four GPU jobs should take more time than the single GPU job" (CHTC/templates-GPUs, July 2022): an
// epoch, whatever the batch.
TEST_CASE(
    "DataParallel around each layer makes CHTC's epoch longer on two and four GPUs than on one, by "
    "communication") {
  const auto epoch_s = [](const std::string& name, int gpus) {
    const Scenario scenario = scenario_named(name);
    const StepSimulator simulator(scenario, gpus);
    return 50'000.0 / static_cast<double>(simulator.global_batch(gpus)) * step_on(scenario, gpus).step_s;
  };
  const double one = epoch_s("chtc-cifar-one", 1), two = epoch_s("chtc-cifar-two", 2),
               four = epoch_s("chtc-cifar-four", 4);
  INFO("one " << one << " s, two " << two << " s, four " << four << " s");
  CHECK(two > one);
  CHECK(four > one);
  const SimulatedStep step = step_on(scenario_named("chtc-cifar-two"), 2);
  CHECK(part(step, Account::exposed_communication) > 0.5 * step.step_s);
}

}  // namespace slower_than_one
