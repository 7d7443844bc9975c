// Counting steps, and adding what happens around them.
#include "sim/analysis/epoch.hpp"

#include <cmath>

#include "sim/strategy/training_step.hpp"

namespace foretrain {

namespace {

/// Forking one loader worker on the reference CPU (measured 10–20 ms, facts in docs/models/epoch.md).
constexpr double kWorkerStart = 15e-3;

}  // namespace

EpochShape epoch_shape(const DataSet& data, std::int64_t batch_per_gpu, int accumulation, int gpus) {
  if (data.samples <= 0) return {};
  const std::int64_t per_rank = data.drop_last ? data.samples / gpus : (data.samples + gpus - 1) / gpus;
  const std::int64_t per_step = batch_per_gpu * accumulation;
  const std::int64_t full = per_rank / per_step, rest = per_rank % per_step;
  if (data.drop_last || rest == 0) return {full, 0};
  return {full + 1, (rest + accumulation - 1) / accumulation};
}

double loader_restart_s(const Workload& workload, const NodeSpec& node) {
  if (workload.data.workers_per_gpu == 0 || workload.data.samples <= 0) return 0;
  const double start = workload.data.persistent_workers ? 0 : kWorkerStart * workload.data.workers_per_gpu * node.host.slowdown;
  return start + to_seconds(loader_pace(workload, node).one_batch);
}

double epoch_s(const EpochShape& shape, double step_s, double partial_step_s, double restart_s) {
  const auto full = static_cast<double>(shape.partial_batch > 0 ? shape.steps - 1 : shape.steps);
  return restart_s + full * step_s + (shape.partial_batch > 0 ? partial_step_s : 0);
}

double total_s(const Scenario& scenario, double epoch_s) {
  double total = to_seconds(scenario.startup) + scenario.epochs * epoch_s;
  for (const Periodic& work : scenario.periodic) total += std::floor(scenario.epochs / work.every_epochs) * to_seconds(work.duration);
  return total;
}

}  // namespace foretrain
