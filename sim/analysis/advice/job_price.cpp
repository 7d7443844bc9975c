// The resources and the price of one way to run a training, and short runs that would confirm it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/base/counted.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Steps of a confirming run: some to warm up, then enough for a minute, within limits.
constexpr int kStepsBefore = 20, kFewestSteps = 50, kMostSteps = 5000;
constexpr double kMeasured_s = 60;
ConfirmingRun confirming_run(const Scenario& scenario, JobOption job) {
  ConfirmingRun run;
  const double step_s = job.point.step_s;
  run.steps =
      kStepsBefore + static_cast<int>(std::clamp<double>(kMeasured_s / step_s, kFewestSteps, kMostSteps));
  run.duration_s = job.point.overhead.startup_s + run.steps * step_s;
  job.time_limit_s = time_limit_s(run.duration_s);
  run.plan = plan_of(scenario, job);
  run.plan.epochs = 0;
  return run;
}

}  // namespace

/// An epoch of unknown length has no duration, deadline or cost.
void refuse_unknown_length(const Scenario& scenario) {
  if (scenario.workload.data.samples == 0)
    throw InputError("how long is an epoch? A recommendation needs the number of samples",
                     "as in --set data.samples=1281167 --set run.epochs=90");
}

/// The message names the option that excludes all listed numbers.
void refuse_contradiction(const Scenario& scenario, const RecommendationRequest& request) {
  if (request.only_gpus.empty()) return;
  const int fewest = std::ranges::min(request.only_gpus);
  if (request.most_gpus > 0 && fewest > request.most_gpus)
    throw InputError(
        fmt::format("--gpus lists only numbers above {}, which --max-gpus does not allow", request.most_gpus),
        "list fewer GPUs, or allow more");
  const auto is_too_wide = [&](int gpus) {
    return gpus <= gpus_of_job(scenario) && reserved_gpus(scenario, gpus).nodes > request.most_nodes;
  };
  if (request.most_nodes > 0 && std::ranges::all_of(request.only_gpus, is_too_wide))
    throw InputError(fmt::format("--gpus lists only jobs on more than {}, which --max-nodes does not allow",
                                 counted(request.most_nodes, "node")),
                     "list fewer GPUs, or allow more nodes");
}

bool is_billed(const Billing& rates) {
  return rates.per_gpu_hour > 0 || rates.per_core_hour > 0 || rates.per_gib_hour > 0;
}

CostUnit billing_of(const Scenario& scenario, const RecommendationRequest& request) {
  if (request.price_per_gpu_hour) return {"", request.price_per_gpu_hour};
  const Billing& rates = scenario.cluster.site.billing;
  return is_billed(rates) ? CostUnit{rates.unit, std::nullopt} : CostUnit{"GPU-h", 1.0};
}

std::vector<int> numbers_within(const Scenario& scenario, const RecommendationRequest& request) {
  std::vector<int> numbers = request.only_gpus.empty() ? requestable_gpu_counts(scenario) : request.only_gpus;
  std::erase_if(numbers, [&](int gpus) {
    const bool is_too_many = request.most_gpus > 0 && gpus > request.most_gpus;
    return is_too_many || gpus > gpus_of_job(scenario) || !can_be_requested(scenario, gpus) ||
           (request.most_nodes > 0 && reserved_gpus(scenario, gpus).nodes > request.most_nodes);
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// The time limit holds the upper end of the interval; cost and GPU-hours are those of the median. A run that
/// is longer than the partition allows becomes several jobs in a row.
void price_job(JobOption& job, const Scenario& scenario, const RecommendationRequest& request) {
  const PredictionPoint& p = job.point;
  const double latest = p.total_interval.high_s, wanted = time_limit_s(latest);
  const Partition* partition = partition_for(scenario.cluster.site, p.gpus, p.nodes, latest);
  const double longest = partition != nullptr ? to_seconds(partition->longest) : 0;
  if (partition != nullptr) job.partition = partition->name;
  job.fills_nodes = p.gpus == p.nodes * std::max(1, first_node(scenario).gpus);
  job.jobs =
      longest > 0 && latest > longest ? static_cast<int>(std::ceil(std::min(wanted / longest, 1e6))) : 1;
  job.time_limit_s = longest > 0 ? std::min(wanted, longest) : wanted;
  job.gpu_hours = paid_gpu_hours(scenario, partition, p.gpus, p.nodes, p.total_s);
  job.gpu_energy_kwh = gpu_energy_kwh(p, first_node(scenario).gpu);
  job.energy_kwh = node_energy_kwh(scenario, partition, p);
  const auto fixed = billing_of(scenario, request).per_gpu_hour;
  job.cost = fixed ? *fixed * job.gpu_hours : billing_cost(scenario, partition, p.gpus, p.nodes, p.total_s);
  const auto wait = request.queue_waits_s.find(p.gpus);
  job.time_to_result_s =
      p.total_s + job.jobs * (wait != request.queue_waits_s.end() ? wait->second : request.queue_wait_s);
}

/// Picks the run on the fewest GPUs, which fixes kernels, host and input, and the one on the recommended
/// GPUs, which shows the rest. If both are the same, the next number is the second run.
std::vector<ConfirmingRun> confirming_runs(const Scenario& scenario, const Recommendation& out) {
  std::vector<ConfirmingRun> runs;
  for (const JobOption& job : out.looked_at) {
    const bool is_best = job.point.gpus == out.best->point.gpus;
    const bool is_next = out.best->point.gpus == out.looked_at.front().point.gpus;
    if (job.point.fits() && (runs.empty() || is_best || (is_next && runs.size() < 2)))
      runs.push_back(confirming_run(scenario, job));
  }
  return runs;
}

}  // namespace foretrain
