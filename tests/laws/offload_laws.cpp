// What is moved to the host is no longer on the GPU, is on the host, and makes no step shorter.
#include <string>
#include <vector>

#include "sim/analysis/step/point_predictor.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace offload_laws {

using namespace foretrain;

namespace {

using Settings = std::vector<std::string>;

struct Offloaded {
  double step_s, host_bytes, drive_bytes, gpu_bytes;
};

Offloaded with(const std::string& strategy, int gpus, const Settings& offload, OpenedCatalogs& opened) {
  ScenarioOverrides overrides;
  overrides.model = "gpt2_medium", overrides.cluster = "dgx-a100", overrides.strategy = strategy;
  overrides.gpus = {gpus}, overrides.batch = 1;
  overrides.settings = {"model.precision=\"bf16\"", "model.half_weights=true", "model.optimizer=\"adamw\""};
  overrides.settings.insert(overrides.settings.end(), offload.begin(), offload.end());
  const Scenario scenario = make_scenario(overrides, opened);
  PointPredictor points(scenario, gpus);
  Decisions unused;
  const PredictionPoint p = points.point(gpus, unused);
  return {p.step_s, static_cast<double>(p.host_memory.total().count),
          static_cast<double>(p.host_memory.on_drive.count), static_cast<double>(p.memory.total().count)};
}

const Settings kNone{}, kOptimizer{"strategy.offload_optimizer=\"cpu\""},
    kBoth{"strategy.offload_optimizer=\"cpu\"", "strategy.offload_param=\"cpu\""},
    kDrive{"strategy.offload_optimizer=\"nvme\""}, kShards{"strategy.offload_params=true"};

/// Each list offloads more than the one before.
void check_order(const std::string& strategy, const std::vector<Settings>& more) {
  OpenedCatalogs opened;
  for (const int gpus : {1, 8}) {
    Offloaded before = with(strategy, gpus, more.front(), opened);
    CHECK(before.host_bytes == 0);
    for (std::size_t i = 1; i < more.size(); ++i) {
      INFO(strategy << " on " << gpus << " GPUs, offload " << i);
      const Offloaded after = with(strategy, gpus, more[i], opened);
      CHECK(after.gpu_bytes <= before.gpu_bytes);
      CHECK(after.host_bytes > before.host_bytes);
      CHECK(after.step_s >= with(strategy, gpus, more.front(), opened).step_s);
      before = after;
    }
  }
}

}  // namespace

TEST_CASE("law: more offload is never less host memory, never more of the GPU's, and no shorter step") {
  test::use_source_catalogs();
  for (const char* strategy : {"zero1", "zero2"}) check_order(strategy, {kNone, kOptimizer});
  check_order("zero3", {kNone, kOptimizer, kBoth});
  for (const char* strategy : {"fsdp", "fsdp2"}) check_order(strategy, {kNone, kShards});
}

TEST_CASE("law: a drive holds what the host's memory does not, and is no faster") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  for (const char* strategy : {"zero1", "zero2", "zero3"}) {
    INFO(strategy);
    const Offloaded memory = with(strategy, 8, kOptimizer, opened), drive = with(strategy, 8, kDrive, opened);
    CHECK(drive.host_bytes < memory.host_bytes);
    CHECK(drive.drive_bytes > 0);
    CHECK(drive.step_s >= memory.step_s);
    CHECK(drive.gpu_bytes == memory.gpu_bytes);
  }
}

TEST_CASE("law: pinned memory, more threads and cores of its own never make a step longer") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  const auto step_with = [&](const std::string& more) {
    Settings settings = kBoth;
    settings.push_back(more);
    return with("zero3", 8, settings, opened).step_s;
  };
  CHECK(step_with("strategy.pin_memory=true") <= step_with("strategy.pin_memory=false"));
  CHECK(step_with("strategy.bind_cores_to_rank=true") <= step_with("strategy.bind_cores_to_rank=false"));
  double slower = step_with("strategy.cpu_threads=1");
  for (const char* threads : {"2", "4", "8", "12"}) {
    const double faster = step_with(std::string("strategy.cpu_threads=") + threads);
    CHECK(faster <= slower);
    slower = faster;
  }
}

}  // namespace offload_laws
