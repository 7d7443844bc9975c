// The search for more loader workers: one doubling after another, up to the cores that a rank has.
#include <algorithm>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

/// Returns the corrected seconds of a step with this number of workers.
double step_with(const PointPredictor& points, int workers, int gpus) {
  Scenario scenario = points.simulator().scenario();
  scenario.workload.data.workers_per_gpu = workers;
  PointPredictor changed(scenario, points);
  return changed.step(gpus).step_s * points.correction().factor(gpus);
}

}  // namespace

bool has_workers_to_set(const Workload& workload) {
  return workload.data.loader == LoaderKind::torch && workload.framework.kind == FrameworkKind::pytorch;
}

std::optional<InputRemedy> input_remedy(const PointPredictor& points, int gpus,
                                        const std::vector<int>& counts) {
  const Scenario& scenario = points.simulator().scenario();
  const DataSet& data = scenario.workload.data;
  if (!has_workers_to_set(scenario.workload)) return std::nullopt;
  const int cores = static_cast<int>(cores_of_rank(data, first_node(scenario)));
  InputRemedy remedy{data.workers_per_gpu, data.workers_per_gpu, {}, std::string(data.worker_unit())};
  double best = step_with(points, remedy.workers, gpus);
  for (int workers = remedy.workers; workers < cores;) {
    workers = std::min(cores, std::max(1, 2 * workers));
    const double step_s = step_with(points, workers, gpus);
    // A number that gains too little does not end the search: a few workers may cost more than they load.
    if (step_s > kWorthWorkers * best) continue;
    best = step_s;
    remedy.workers = workers;
  }
  if (remedy.workers == remedy.workers_before) return std::nullopt;
  for (const int count : counts) remedy.step_s.push_back(step_with(points, remedy.workers, count));
  return remedy;
}

}  // namespace foretrain
