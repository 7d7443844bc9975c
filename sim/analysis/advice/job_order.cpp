// The best job for a goal. A goal picks from the jobs that are within the noise of the best one, and prefers
// those that users and batch systems handle most easily.
#include "sim/analysis/advice/job_order.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sim/analysis/search/paying.hpp"

namespace foretrain {

namespace {

/// Runs below this many seconds count as equally short in a balanced job, because queueing takes as long.
constexpr double kShortest_s = 900;

/// Returns the run's seconds as a balanced job counts them.
double balanced_time(const JobOption& job) { return std::max(kShortest_s, job.point.total_s); }

/// Returns the GPUs that the job keeps from others, which on whole nodes are more than it uses.
double paid_gpus(const JobOption& job) {
  const double hours = job.point.total_s / 3600;
  return hours > 0 && job.gpu_hours > 0 ? job.gpu_hours / hours : job.point.gpus;
}

/// Returns true if the larger job is as much faster as its additional GPUs require. A job that fills its node
/// may fall short of that by the noise.
bool pays(const JobOption& more, const JobOption& fewer, double efficiency) {
  const double wanted = paying_speedup(paid_gpus(more) / paid_gpus(fewer), efficiency);
  const bool fills_nodes = more.fills_nodes && !fewer.fills_nodes && more.point.nodes == fewer.point.nodes;
  return balanced_time(fewer) >= (fills_nodes ? kAlike : 1) * wanted * balanced_time(more);
}

/// Returns the largest job of at most twice the GPUs that pays. If there is none that small, returns the next
/// larger one if it pays; nullptr if more GPUs do not pay. Jobs must be in ascending order of GPUs.
const JobOption* next_that_pays(const std::vector<const JobOption*>& jobs, const JobOption& from,
                                double efficiency) {
  const JobOption* found = nullptr;
  bool is_next = true;
  for (const JobOption* job : jobs) {
    if (job->point.gpus <= from.point.gpus) continue;
    if (job->point.gpus > 2 * from.point.gpus && !is_next) break;
    if (pays(*job, from, efficiency)) found = job;
    is_next = false;
  }
  return found;
}

/// Starts at the smallest job and follows the doublings that pay.
const JobOption* last_that_pays(std::vector<const JobOption*> jobs, double efficiency, int most_nodes) {
  const JobOption* best = *std::ranges::min_element(
      jobs, [](const JobOption* a, const JobOption* b) { return is_smaller(*a, *b); });
  if (most_nodes > 0) {
    const int nodes = std::max(most_nodes, best->point.nodes);
    std::erase_if(jobs, [nodes](const JobOption* job) { return job->point.nodes > nodes; });
    if (best->point.nodes > most_nodes) return best;
  }
  std::ranges::stable_sort(jobs, {}, [](const JobOption* job) { return job->point.gpus; });
  while (const JobOption* next = next_that_pays(jobs, *best, efficiency)) best = next;
  return best;
}

/// Returns the preferred one of the jobs that are within the noise of the least value.
template <class Value>
const JobOption* least(const std::vector<const JobOption*>& jobs, Value value) {
  double lowest = value(*jobs.front());
  for (const JobOption* job : jobs) lowest = std::min(lowest, value(*job));
  const JobOption* best = nullptr;
  for (const JobOption* job : jobs) {
    const bool is_least = kAlike * value(*job) <= lowest;
    if (is_least && (best == nullptr || is_tidier(*job, *best))) best = job;
  }
  return best;
}

}  // namespace

bool is_smaller(const JobOption& job, const JobOption& other) {
  const auto key = [](const JobOption& option) {
    const PredictionPoint& p = option.point;
    return std::tuple(p.nodes, p.nodes > 1 && !option.fills_nodes, p.gpus);
  };
  return key(job) < key(other);
}

bool is_tidier(const JobOption& job, const JobOption& other) {
  if (job.fills_nodes != other.fills_nodes) return job.fills_nodes;
  return is_smaller(job, other);
}

const JobOption* best_job(const std::vector<const JobOption*>& jobs, const RecommendationRequest& request,
                          int most_nodes) {
  if (jobs.empty()) return nullptr;
  if (request.goal == Goal::fastest)
    return least(jobs, [](const JobOption& job) { return job.point.total_s; });
  if (request.goal == Goal::cheapest) return least(jobs, [](const JobOption& job) { return job.cost; });
  if (!request.deadline_s) return last_that_pays(jobs, request.efficiency, most_nodes);
  return *std::ranges::min_element(jobs,
                                   [](const JobOption* a, const JobOption* b) { return is_smaller(*a, *b); });
}

}  // namespace foretrain
