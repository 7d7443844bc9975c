// The order of jobs for one training: which is smaller, which are alike, and which is best for a goal.
#pragma once

#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/search/crossover.hpp"

namespace foretrain {

/// Two jobs whose times (or costs) are nearer than this ratio are alike, and neither wins by it. Both jobs
/// run the same training, so their ratio shares most of what is uncertain (kernels, host, input). What always
/// remains is the spread between runs of one job, which both have: sqrt(2) kRunToRun, as in the crossover.
inline constexpr double kAlike = kSlower;
/// Whether a value is within the noise of another one, in either direction. Both are positive.
inline bool is_alike(double value, double reference) {
  return value > kAlike * reference && kAlike * value < reference;
}

/// Fewer nodes; then, on several nodes, whole nodes before parts of them; then fewer GPUs. A strict weak
/// order.
bool is_smaller(const JobOption& job, const JobOption& other);
/// Which of two alike jobs to request: whole nodes before parts of them, then the smaller one.
bool is_tidier(const JobOption& job, const JobOption& other);

/// The best job for the goal of the request, among jobs that keep its limits; nullptr: there are none.
/// fastest, cheapest: the tidiest of those that are alike the shortest (the cheapest) one. balanced: with a
/// deadline the smallest job, otherwise the last one whose doublings pay, on at most `most_nodes` nodes
/// (0: any number), or the smallest where all have more.
const JobOption* best_job(const std::vector<const JobOption*>& jobs, const RecommendationRequest& request,
                          int most_nodes);

}  // namespace foretrain
