// Changes that make more GPUs faster than fewer. Each change is simulated before it is named.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Smallest ratio of speeds that makes a change worth naming.
constexpr double kWorthChanging = 1.1;
/// Factors on the batch that are tried, smallest first.
constexpr std::array<int, 3> kLargerBatches{4, 16, 64};

/// Returns the samples per second on `gpus` over those on `fewer`; 0 where the change does not run or fit.
double ratio_of(const Scenario& scenario, const PointPredictor& points, int gpus, int fewer) {
  try {
    PointPredictor changed(scenario, points);
    if (!why_not_together(scenario, gpus).empty() || !changed.fits(gpus)) return 0;
    return changed.throughput(gpus).samples_per_s / changed.throughput(fewer).samples_per_s;
  } catch (const InputError&) {
    return 0;  // it cannot train this network on these GPUs
  }
}

/// Returns the words and the option of a batch; `is_shared` states whether it is the global batch.
FasterChange named_batch(std::int64_t batch, bool is_shared) {
  if (is_shared)
    return {fmt::format("a batch of {} in all", batch), fmt::format("--set model.global_batch={}", batch)};
  return {fmt::format("a batch of {} for each GPU", batch), fmt::format("--batch {}", batch)};
}

/// Returns the first of the larger batches with which more GPUs are clearly faster.
std::optional<FasterChange> larger_batch(const Scenario& scenario, const PointPredictor& points, int gpus,
                                         int fewer) {
  for (const int times : kLargerBatches) {
    const std::int64_t batch = batch_of(scenario) * times;
    FasterChange way = named_batch(batch, scenario.global_batch.has_value());
    way.ratio = ratio_of(with_batch(scenario, batch), points, gpus, fewer);
    if (way.ratio >= kWorthChanging) return way;
  }
  return std::nullopt;
}

/// Returns DistributedDataParallel in place of one process that drives all GPUs, with a larger batch where
/// that alone does not suffice. Nothing outside of PyTorch.
std::optional<FasterChange> processes(const PointPredictor& points, int gpus, int fewer) {
  const Scenario& own = points.simulator().scenario();
  if (own.workload.framework.kind != FrameworkKind::pytorch) return std::nullopt;
  if (find_strategy(own.strategy)->processes == Processes::per_gpu) return std::nullopt;
  const Scenario scenario = with_strategy(own, "ddp");
  FasterChange way{"DistributedDataParallel", "--strategy ddp", ratio_of(scenario, points, gpus, fewer)};
  if (way.ratio >= kWorthChanging) return way;
  const std::optional<FasterChange> larger = larger_batch(scenario, points, gpus, fewer);
  if (!larger) return std::nullopt;
  return FasterChange{way.what + " with " + larger->what, way.option + " " + larger->option, larger->ratio};
}

}  // namespace

std::vector<FasterChange> faster_changes(const PointPredictor& points, int gpus, int fewer) {
  std::vector<FasterChange> out;
  if (!points.simulator().model().is_strategy) return out;
  for (const auto& way :
       {processes(points, gpus, fewer), larger_batch(points.simulator().scenario(), points, gpus, fewer)})
    if (way) out.push_back(*way);
  return out;
}

}  // namespace foretrain
