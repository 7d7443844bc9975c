// The order of jobs for one training: smaller jobs, jobs that are alike, and the best job for a goal.
#pragma once

#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/search/crossover.hpp"

namespace foretrain {

/// Ratio of times (or costs) above which two jobs are alike, so that neither wins by it. Both jobs run the
/// same training, so their ratio shares most of what is uncertain (kernels, host, input). The spread between
/// two runs of one job always remains, and both jobs have it: sqrt(2) kRunToRun, as in the crossover.
inline constexpr double kAlike = kSlower;
/// Returns true if a value is within the noise of another one, in either direction. Both must be positive.
inline bool is_alike(double value, double reference) {
  return value > kAlike * reference && kAlike * value < reference;
}

/// Returns true if `job` is smaller: fewer nodes; then, on several nodes, whole nodes before parts of them;
/// then fewer GPUs. A strict weak order.
bool is_smaller(const JobOption& job, const JobOption& other);
/// Returns true if `job` is preferred to an alike job: whole nodes before parts of them, then the smaller
/// one.
bool is_tidier(const JobOption& job, const JobOption& other);

/// Returns the best job for the goal of the request, among jobs that keep its limits; nullptr if there are
/// none. fastest and cheapest: of the jobs that are alike the shortest (the cheapest) one, the one that
/// is_tidier() prefers. balanced: with a deadline the smallest job; otherwise the last one whose doublings
/// pay, on at most `most_nodes` nodes (0: any number), or the smallest where all have more.
const JobOption* best_job(const std::vector<const JobOption*>& jobs, const RecommendationRequest& request,
                          int most_nodes);

}  // namespace foretrain
