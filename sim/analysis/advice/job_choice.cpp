// Each goal is a number to make small; ties within a percent go to fewer GPUs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/jobs/large_model_program.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Differences that no user would notice.
constexpr double kAlike = 0.99;

/// Runs shorter than this are as good as each other when both time and cost count: queueing takes as long.
constexpr double kShortest = 900;

/// Nothing costs less, so that what is free has a logarithm.
constexpr double kFree = 1e-30;

/// The exponent x for which time x cost^x is the same when twice the GPUs are 2 x `efficiency` times as fast:
/// with y = log2(2 x efficiency) that is y / (1 - y). 0.71 gives 1, the plain product.
double cost_exponent(double efficiency) {
  const double y = std::log2(2 * efficiency);
  return y / (1 - y);
}

/// Logarithm of what the goal makes small.
double to_minimize(const JobOption& job, const RecommendationRequest& request) {
  if (request.goal == Goal::fastest) return std::log(job.point.total_s);
  const double log_cost = std::log(std::max(job.cost, kFree));
  if (request.goal == Goal::cheapest) return log_cost;
  return std::log(std::max(kShortest, job.point.total_s)) + cost_exponent(request.efficiency) * log_cost;
}

/// With 95 %: below it more than half of the GPU-hours might buy nothing.
constexpr double kSureEfficiency = 0.5;

/// Balanced jobs are worth their GPUs as predicted, and even where the interval ends; a single GPU always is.
bool is_worth(const JobOption& job, const RecommendationRequest& request) {
  const PredictionPoint& p = job.point;
  if (request.goal != Goal::balanced || p.gpus == 1) return true;
  return p.efficiency >= request.efficiency && p.speedup_range.low >= kSureEfficiency * p.gpus;
}

/// Options come by growing number of GPUs.
const JobOption* best_of(const std::vector<const JobOption*>& options, const RecommendationRequest& request) {
  const JobOption* best = nullptr;
  for (const JobOption* job : options) {
    if (best != nullptr && !is_worth(*job, request)) continue;
    const bool is_better = best == nullptr || !is_worth(*best, request) ||
                           to_minimize(*job, request) < std::log(kAlike) + to_minimize(*best, request);
    if (is_better) best = job;
  }
  return best;
}

/// Three digits, never as a power of ten.
std::string amount(double value) {
  return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string spoken(double seconds) {
  if (seconds < 60) return amount(seconds) + " s";
  return seconds < 3600 ? amount(seconds / 60) + " min" : amount(seconds / 3600) + " h";
}

bool trains(const PredictionPoint& point) { return point.fits() && point.steps_per_epoch > 0; }

/// Of jobs that are all out the one that comes nearest to the limits.
const JobOption* nearest_miss(const std::vector<JobOption>& options, const RecommendationRequest& request) {
  const auto distance = [&](const JobOption& job) {
    if (!trains(job.point))
      return std::pair(true,
                       static_cast<double>(-job.point.gpus));  // shares of a model or a batch get smaller
    return std::pair(false, request.deadline_s ? job.point.total_interval.high_s : job.gpu_hours);
  };
  const auto nearest = std::min_element(options.begin(), options.end(), [&](const auto& a, const auto& b) {
    return distance(a) < distance(b);
  });
  return nearest == options.end() ? nullptr : &*nearest;
}

/// Of `value` against `reference`: "1.9 x faster", "4 % cheaper"; empty when nobody would notice or nothing
/// can be said.
std::string difference(double value, double reference, std::string_view less, std::string_view more) {
  if (value <= 0 || reference <= 0) return {};
  const double ratio = value / reference;
  if (ratio > kAlike && ratio < 1 / kAlike) return {};
  const double larger = std::max(ratio, 1 / ratio);
  const std::string_view which = ratio < 1 ? less : more;
  if (larger < 1.3) return fmt::format("{:.0f} % {}", 100 * std::abs(ratio - 1), which);
  return larger < 10 ? fmt::format("{:.2g} x {}", larger, which) : fmt::format("{:.0f} x {}", larger, which);
}

std::string trade_of(const JobOption& job, const JobOption& best) {
  std::string out = difference(job.point.total_s, best.point.total_s, "faster", "slower");
  const std::string cost = difference(job.cost, best.cost, "cheaper", "dearer");
  if (!out.empty() && !cost.empty()) out += ", ";
  return out + cost;
}

/// The best by each other goal, then the next by this one.
std::vector<JobOption> runners_up(std::vector<const JobOption*> allowed, const JobOption* best,
                                  const RecommendationRequest& request) {
  constexpr std::size_t kRunnersUp = 2;
  std::vector<const JobOption*> chosen{best};
  const auto add = [&](const JobOption* job) {
    const bool is_new = job != nullptr && std::find(chosen.begin(), chosen.end(), job) == chosen.end();
    if (is_new && chosen.size() <= kRunnersUp) chosen.push_back(job);
  };
  for (const Goal other : {Goal::balanced, Goal::fastest, Goal::cheapest}) {
    RecommendationRequest asked = request;
    asked.goal = other;
    add(best_of(allowed, asked));
  }
  while (chosen.size() <= kRunnersUp && chosen.size() < allowed.size()) {
    std::vector<const JobOption*> left = allowed;
    std::erase_if(left, [&](const JobOption* job) {
      return std::find(chosen.begin(), chosen.end(), job) != chosen.end();
    });
    add(best_of(left, request));
  }
  std::vector<JobOption> out;
  for (std::size_t i = 1; i < chosen.size(); ++i) out.push_back(*chosen[i]);
  return out;
}

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

std::string job_name(const std::string& model) {
  std::string out;
  for (const char c : model.substr(0, 40))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '-';
  return out.empty() ? "training" : out;
}

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
    return fmt::format("on {} the run takes {}, up to {}, and the deadline is {}", gpus, spoken(p.total_s),
                       spoken(p.total_interval.high_s), spoken(*request.deadline_s));
  if (request.budget_gpu_hours && job.gpu_hours > *request.budget_gpu_hours)
    return fmt::format("on {} the run takes {} GPU-hours, and the budget is {}", gpus, amount(job.gpu_hours),
                       amount(*request.budget_gpu_hours));
  return {};
}

void add_trades(Recommendation& recommendation) {
  for (JobOption& job : recommendation.runners_up) job.trade = trade_of(job, *recommendation.best);
}

Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request,
                           const CostUnit& unit) {
  Recommendation out;
  out.goal = request.goal, out.cost_unit = unit.name;
  out.has_queue_wait = request.queue_wait_s > 0 || !request.queue_waits_s.empty();
  std::vector<const JobOption*> allowed;
  for (const JobOption& job : options) {
    if (broken_limit(job, request).empty()) allowed.push_back(&job);
  }
  out.looked_at = options;
  const JobOption* best = best_of(allowed, request);
  if (best == nullptr) {
    const JobOption* nearest = nearest_miss(options, request);
    out.why_none = nearest != nullptr ? broken_limit(*nearest, request)
                                      : "no partition gives a number of GPUs that the strategy can use";
    return out;
  }
  out.best = *best;
  out.runners_up = runners_up(std::move(allowed), best, request);
  add_trades(out);
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
