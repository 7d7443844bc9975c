// Counting steps, and adding what each epoch starts with.
#include "sim/analysis/step/epoch.hpp"

#include "sim/strategy/process/input_pipeline.hpp"

namespace foretrain {

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
  return to_seconds(worker_start(workload.data, node.host) + loader_pace(workload, node).one_batch);
}

double epoch_s(const EpochShape& shape, double step_s, double partial_step_s, double restart_s) {
  const auto full = static_cast<double>(shape.partial_batch > 0 ? shape.steps - 1 : shape.steps);
  return restart_s + full * step_s + (shape.partial_batch > 0 ? partial_step_s : 0);
}

}  // namespace foretrain
