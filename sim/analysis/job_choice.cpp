// Each goal is a number to make small; ties within a percent go to fewer GPUs.
#include "sim/analysis/job_choice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/job_resources.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Differences that no user would notice.
constexpr double kTie = 0.99;

double to_minimize(const JobOption& job, Goal goal) {
  if (goal == Goal::fastest) return job.point.total_s;
  return goal == Goal::cheapest ? job.cost : job.point.total_s * job.cost;
}

/// Options come by growing number of GPUs.
const JobOption* best_of(const std::vector<const JobOption*>& options, Goal goal) {
  const JobOption* best = nullptr;
  for (const JobOption* job : options) {
    if (best == nullptr || to_minimize(*job, goal) < kTie * to_minimize(*best, goal)) best = job;
  }
  return best;
}

std::string hours(double seconds) { return fmt::format("{:.3g} h", seconds / 3600); }

/// Why a job is out; empty when it keeps all limits.
std::string broken_limit(const JobOption& job, const RecommendationRequest& request) {
  const PredictionPoint& p = job.point;
  const std::string gpus = fmt::format("{} GPU{}", p.gpus, p.gpus == 1 ? "" : "s");
  if (!p.fits()) return fmt::format("{}: {} samples per GPU do not fit into its memory", gpus, p.batch_per_gpu);
  if (request.deadline_s && p.total_interval.high_s > *request.deadline_s)
    return fmt::format("{}: {}, up to {}, is beyond the deadline of {}", gpus, hours(p.total_s), hours(p.total_interval.high_s),
                       hours(*request.deadline_s));
  if (request.budget_gpu_hours && job.gpu_hours > *request.budget_gpu_hours)
    return fmt::format("{}: {:.3g} GPU-hours are over the budget of {:.3g}", gpus, job.gpu_hours, *request.budget_gpu_hours);
  return {};
}

/// "1.9 x faster", "4 % cheaper"; empty when nobody would notice.
std::string difference(double ratio, std::string_view less, std::string_view more) {
  if (ratio > kTie && ratio < 1 / kTie) return {};
  const double larger = std::max(ratio, 1 / ratio);
  const std::string_view which = ratio < 1 ? less : more;
  return larger < 1.3 ? fmt::format("{:.0f} % {}", 100 * std::abs(ratio - 1), which) : fmt::format("{:.2g} x {}", larger, which);
}

std::string trade_of(const JobOption& job, const JobOption& best) {
  std::string out = difference(job.point.total_s / best.point.total_s, "faster", "slower");
  const std::string cost = difference(job.cost / best.cost, "cheaper", "dearer");
  if (!out.empty() && !cost.empty()) out += ", ";
  return out + cost;
}

/// The best by each other goal, then the next by this one.
std::vector<JobOption> runners_up(std::vector<const JobOption*> allowed, const JobOption* best, Goal goal) {
  constexpr std::size_t kRunnersUp = 2;
  std::vector<const JobOption*> chosen{best};
  const auto add = [&](const JobOption* job) {
    const bool is_new = job != nullptr && std::find(chosen.begin(), chosen.end(), job) == chosen.end();
    if (is_new && chosen.size() <= kRunnersUp) chosen.push_back(job);
  };
  for (const Goal other : {Goal::balanced, Goal::fastest, Goal::cheapest}) add(best_of(allowed, other));
  while (chosen.size() <= kRunnersUp && chosen.size() < allowed.size()) {
    std::vector<const JobOption*> left = allowed;
    std::erase_if(left, [&](const JobOption* job) { return std::find(chosen.begin(), chosen.end(), job) != chosen.end(); });
    add(best_of(left, goal));
  }
  std::vector<JobOption> out;
  for (std::size_t i = 1; i < chosen.size(); ++i) out.push_back(*chosen[i]), out.back().trade = trade_of(*chosen[i], *best);
  return out;
}

Launcher launcher_of(const Scenario& scenario, const std::string& strategy) {
  if (scenario.launch.with && scenario.strategy == strategy) return *scenario.launch.with;
  const StrategyEntry& entry = *find_strategy(strategy);
  if (entry.processes == Processes::one) return Launcher::python;
  if (entry.processes == Processes::per_node) return Launcher::srun;
  if (strategy == "horovod" || strategy == "byteps") return Launcher::horovodrun;
  return strategy.starts_with("zero") ? Launcher::deepspeed : Launcher::torchrun;
}

std::string job_name(const std::string& model) {
  std::string out;
  for (const char c : model.substr(0, 40)) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '-';
  return out.empty() ? "training" : out;
}

}  // namespace

Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request, const CostUnit& unit) {
  Recommendation out;
  out.goal = request.goal, out.cost_unit = unit.name;
  out.has_queue_wait = request.queue_wait_s > 0 || !request.queue_waits_s.empty();
  std::vector<const JobOption*> allowed;
  for (const JobOption& job : options) {
    const std::string broken = broken_limit(job, request);
    if (broken.empty())
      allowed.push_back(&job);
    else if (out.why_none.empty() || request.deadline_s)
      out.why_none = broken;  // the largest comes nearest to a deadline
  }
  const JobOption* best = best_of(allowed, request.goal);
  if (best == nullptr) {
    if (options.empty()) out.why_none = "no partition gives a number of GPUs that the strategy can use";
    return out;
  }
  out.best = *best;
  out.why_none.clear();
  out.runners_up = runners_up(std::move(allowed), best, request.goal);
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
  plan.nodes = p.nodes, plan.gpus_per_node = share.gpus, plan.cores_per_node = share.cores, plan.memory_per_node = share.memory;
  const Processes processes = find_strategy(job.strategy)->processes;
  plan.processes_per_node = processes == Processes::per_gpu ? share.gpus : 1;
  plan.time_limit = seconds(job.time_limit_s);
  plan.launcher = launcher_of(scenario, job.strategy);
  plan.workers_per_gpu = job.workers_per_gpu;
  plan.batch_per_gpu = p.batch_per_gpu, plan.global_batch = p.global_batch, plan.epochs = scenario.epochs;
  return plan;
}

}  // namespace foretrain
