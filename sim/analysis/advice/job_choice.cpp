// Limits exclude jobs, the goal picks one of the others, and its neighbours become the alternatives.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/job_order.hpp"
#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/spoken.hpp"
#include "sim/import/jobs/large_model_program.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns a number with three digits, never as a power of ten.
std::string amount(double value) {
  return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// Returns true if the point can train at all.
bool trains(const PredictionPoint& point) { return point.fits() && point.steps_per_epoch > 0; }

/// Returns the excluded job that comes nearest to the limits: the one in time with the fewest GPU-hours, else
/// the one that ends first. If none fits, it is the one with the most GPUs, whose shares of model and batch
/// are smallest.
const JobOption* nearest_miss(const std::vector<JobOption>& options, const RecommendationRequest& request) {
  const auto distance = [&](const JobOption& job) {
    if (!trains(job.point)) return std::pair(2, static_cast<double>(-job.point.gpus));
    const double end_s = job.point.total_interval.high_s;
    const bool is_late = request.deadline_s && end_s > *request.deadline_s;
    return is_late ? std::pair(1, end_s) : std::pair(0, job.gpu_hours);
  };
  const auto nearest = std::min_element(options.begin(), options.end(), [&](const auto& a, const auto& b) {
    return distance(a) < distance(b);
  });
  return nearest == options.end() ? nullptr : &*nearest;
}

/// Returns the sentence on the larger job that the first run's limit on nodes excluded; empty if it excluded
/// none.
std::string beyond_first_run(const JobOption& best, const JobOption& without_limit,
                             const RecommendationRequest& request) {
  if (&best == &without_limit) return {};
  const int nodes = std::max(best.point.nodes, request.first_run_nodes);
  const std::string most = nodes == 2 ? "two nodes" : counted(nodes, "node");
  return fmt::format("More than {}: {} on {} would take {}; confirm on {} first", most,
                     counted(without_limit.point.gpus, "GPU"), counted(without_limit.point.nodes, "node"),
                     spoken_duration(without_limit.point.total_s), most);
}

/// Returns the scenario's launcher for its own strategy, otherwise the usual one of the strategy.
Launcher launcher_of(const Scenario& scenario, const std::string& strategy) {
  if (scenario.launch.with && scenario.strategy == strategy) return *scenario.launch.with;
  const StrategyEntry& entry = *find_strategy(strategy);
  if (entry.processes == Processes::one || entry.one_gpu) return Launcher::python;
  if (entry.processes == Processes::per_node) return Launcher::srun;
  switch (entry.starter) {
    case Starter::horovodrun:
      return Launcher::horovodrun;
    case Starter::deepspeed:
      return Launcher::deepspeed;
    case Starter::torchrun:
      break;
  }
  return Launcher::torchrun;
}

/// Returns a job name of at most 40 characters that every batch system accepts.
std::string job_name(const std::string& model) {
  std::string out;
  for (const char c : model.substr(0, 40))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '-';
  return out.empty() ? "training" : out;
}

/// Returns the processes of one node: as the scenario states them, else one for each GPU.
int processes_per_node(const Scenario& scenario, const std::string& strategy, int gpus) {
  if (find_strategy(strategy)->processes != Processes::per_gpu) return 1;
  const int given = scenario.strategy == strategy ? scenario.launch.processes_per_node : 0;
  return given > 0 ? std::min(given, gpus) : gpus;
}

}  // namespace

std::string broken_limit(const JobOption& job, const RecommendationRequest& request) {
  const PredictionPoint& p = job.point;
  const std::string gpus = counted(p.gpus, "GPU");
  if (!p.fits())
    return fmt::format("on {} {} samples per GPU do not fit into its memory", gpus, p.batch_per_gpu);
  if (p.steps_per_epoch == 0)
    return fmt::format("on {} an epoch has no full batch, and drop_last leaves out the rest", gpus);
  if (request.deadline_s && p.total_interval.high_s > *request.deadline_s)
    return fmt::format("on {} the run takes {}, up to {}, and the deadline is {}", gpus,
                       spoken_duration(p.total_s), spoken_duration(p.total_interval.high_s),
                       spoken_duration(*request.deadline_s));
  if (request.budget_gpu_hours && job.gpu_hours > *request.budget_gpu_hours)
    return fmt::format("on {} the run takes {} GPU-hours, and the budget is {}", gpus, amount(job.gpu_hours),
                       amount(*request.budget_gpu_hours));
  return {};
}

/// The chosen job is compared with the choice without the first run's limit, so that the limit is never
/// silent.
Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request,
                           const CostUnit& unit) {
  Recommendation out;
  out.goal = request.goal, out.deadline_s = request.deadline_s, out.cost_unit = unit.name;
  out.has_queue_wait = request.queue_wait_s > 0 || !request.queue_waits_s.empty();
  out.looked_at = options;
  std::vector<const JobOption*> allowed;
  for (JobOption& job : out.looked_at) {
    if (request.deadline_s)
      job.keeps_deadline = chance_in_time(job.point.total_s, job.point.total_interval, *request.deadline_s);
    if (broken_limit(job, request).empty()) allowed.push_back(&job);
  }
  const JobOption* best = best_job(allowed, request, request.first_run_nodes);
  if (best == nullptr) {
    const JobOption* nearest = nearest_miss(options, request);
    out.why_none = nearest != nullptr ? broken_limit(*nearest, request)
                                      : "no partition gives a number of GPUs that the strategy can use";
    return out;
  }
  out.best = *best;
  // A smaller alternative may miss the deadline, which its trade states.
  out.runners_up = alternative_jobs(out.looked_at, *best, request);
  add_trades(out);
  const std::string kept_back = beyond_first_run(*best, *best_job(allowed, request, 0), request);
  if (kept_back.empty()) return out;
  out.notes.push_back(kept_back);
  out.next_step = kept_back;
  return out;
}

JobPlan plan_of(const Scenario& scenario, const JobOption& job) {
  const PredictionPoint& p = job.point;
  const Site& site = scenario.cluster.site;
  const NodeShare share = node_share(scenario, p.gpus, p.nodes);
  JobPlan plan;
  plan.name = job_name(scenario.model.name);
  plan.model = scenario.model.name, plan.cluster = scenario.cluster.name, plan.strategy = job.strategy;
  plan.system = site.system == BatchSystem::none ? BatchSystem::slurm : site.system;
  plan.partition = job.partition, plan.gpu_type = site.gpu_type, plan.requirements = site.requirements;
  if (!site.constraints.empty()) plan.constraint = site.constraints.front();
  plan.nodes = p.nodes, plan.gpus_per_node = share.gpus, plan.cores_per_node = share.cores,
  plan.memory_per_node = share.memory;
  plan.time_limit_s = job.time_limit_s;
  if (!job.layout) {
    plan.processes_per_node = processes_per_node(scenario, job.strategy, share.gpus);
    plan.launcher = launcher_of(scenario, job.strategy);
    if (plan.launcher == Launcher::python) plan.processes_per_node = 1;
  } else {
    plan.processes_per_node = share.gpus;
    const double steps = scenario.epochs * static_cast<double>(p.steps_per_epoch);
    const bool is_known = scenario.workload.data.samples > 0;
    set_program(*job.layout, is_known ? std::llround(steps) : 0, plan);
  }
  plan.workers_per_gpu = job.workers_per_gpu;
  plan.batch_per_gpu = p.batch_per_gpu, plan.accumulation = job.accumulation,
  plan.global_batch = p.global_batch;
  plan.epochs = scenario.epochs;
  return plan;
}

}  // namespace foretrain
