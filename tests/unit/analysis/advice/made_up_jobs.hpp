// Jobs with round numbers on nodes of four GPUs, for tests of the choice among them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/analysis/advice/recommend.hpp"

namespace foretrain::test {

inline constexpr double kHour = 3600;

/// Takes so many hours, up to a quarter more, and costs its GPU-hours.
inline JobOption made_up_job(int gpus, double hours) {
  JobOption job;
  job.strategy = "ddp";
  job.point.gpus = gpus, job.point.nodes = (gpus + 3) / 4;
  job.fills_nodes = gpus % 4 == 0;
  job.point.batch_per_gpu = 32, job.point.global_batch = 32 * gpus;
  job.point.total_s = hours * kHour;
  job.point.total_interval = {0.8 * hours * kHour, 1.25 * hours * kHour, 0.9};
  job.gpu_hours = job.cost = gpus * hours;
  return job;
}

/// 1, 2, 4 and 8 GPUs.
inline std::vector<JobOption> four_jobs() {
  return {made_up_job(1, 16), made_up_job(2, 8.5), made_up_job(4, 5), made_up_job(8, 4)};
}

/// Twice the GPUs take half the time, from one to 32 GPUs on eight nodes.
inline std::vector<JobOption> scaling_jobs(double hours_on_one) {
  std::vector<JobOption> jobs;
  for (int gpus = 1; gpus <= 32; gpus *= 2) jobs.push_back(made_up_job(gpus, hours_on_one / gpus));
  return jobs;
}

inline Recommendation chosen(const std::vector<JobOption>& options,
                             const RecommendationRequest& request = {}) {
  return choose_jobs(options, request, {"GPU-h", 1.0});
}

inline RecommendationRequest with_goal(Goal wanted) {
  RecommendationRequest request;
  request.goal = wanted;
  return request;
}

inline RecommendationRequest with_deadline(double hours) {
  RecommendationRequest request;
  request.deadline_s = hours * kHour;
  return request;
}

inline int best_of(const std::vector<JobOption>& options, const RecommendationRequest& request = {}) {
  return chosen(options, request).best->point.gpus;
}

inline std::vector<int> runners_up_of(const Recommendation& recommendation) {
  std::vector<int> gpus;
  for (const JobOption& job : recommendation.runners_up) gpus.push_back(job.point.gpus);
  return gpus;
}

}  // namespace foretrain::test
