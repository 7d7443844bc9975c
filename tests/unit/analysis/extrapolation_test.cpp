// What lies beyond the measured jobs, and that the table of those is what the file says.
#include <algorithm>
#include <map>

#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace extrapolation_test {

using namespace foretrain;

namespace {

PredictionPoint job(int gpus, int nodes) {
  PredictionPoint p;
  p.gpus = gpus, p.nodes = nodes;
  return p;
}

std::vector<std::string> of(std::string strategy, std::vector<PredictionPoint> points) {
  Scenario scenario = test::mnist_scenario();
  scenario.strategy = std::move(strategy);
  return extrapolations(scenario, points);
}

}  // namespace

TEST_CASE("the largest measured jobs are those of the file of measurements") {
  const SourceText source =
      read_text_file(FORETRAIN_SOURCE_DIR "/docs/measured/scaling.csv", kLargestMeasurements);
  Diagnostics diagnostics(source);
  std::map<std::string, std::pair<int, int>> largest;
  for (const Measurement& m : read_measurements(source, diagnostics).scaling) {
    const StrategyEntry* entry = find_strategy(m.strategy);
    if (entry == nullptr || m.gpus == 1) continue;
    auto& [gpus, nodes] = largest[std::string(entry->name)];
    gpus = std::max(gpus, m.gpus), nodes = std::max(nodes, m.nodes);
  }
  largest["multi_worker_mirrored"] =
      largest["mirrored"];  // over several nodes a series of mirrored is one of these
  for (const MeasuredJobs& row : measured_jobs()) {
    INFO(row.strategy);
    CHECK(largest[std::string(row.strategy)] == std::pair(row.gpus, row.nodes));
  }
  CHECK(largest.size() == measured_jobs().size());
}

TEST_CASE("a job as large as the measured ones is nothing new, a larger one is") {
  CHECK(of("ddp", {job(1, 1), job(128, 16)}).empty());
  const auto beyond = of("ddp", {job(64, 16), job(68, 17), job(136, 17)});
  REQUIRE(beyond.size() == 1);
  CHECK(beyond[0] ==
        "from 68 GPUs on 17 nodes on: the largest measured jobs of ddp have 128 GPUs or 16 nodes");
}

TEST_CASE("a strategy without measured jobs says so once there are several GPUs") {
  CHECK(of("fsdp", {job(1, 1)}).empty());
  CHECK(of("fsdp", {job(1, 1), job(2, 1)}) ==
        std::vector<std::string>{"no job of fsdp on several GPUs has been measured"});
}

}  // namespace extrapolation_test
