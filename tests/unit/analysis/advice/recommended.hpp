// Recommendations for a small training that scales, for tests of what is recommended.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/analysis/advice/recommend.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace foretrain::test {

/// ResNet-18 on four nodes of four GPUs; batches lie on the GPU. An hour or so on one GPU.
inline Scenario scaling_scenario() {
  Scenario scenario = scenario_of(resnet18(), nvlink_cluster(4, 2), {1});
  scenario.workload.data.samples = 1'280'000;
  scenario.workload.data.loader = LoaderKind::none;
  return scenario;
}

inline Recommendation recommended(const Scenario& scenario, const RecommendationRequest& request = {}) {
  return recommend({scenario, {}}, request);
}

inline RecommendationRequest goal(Goal wanted) {
  RecommendationRequest request;
  request.goal = wanted;
  return request;
}

inline std::vector<JobOption> all_jobs(const Recommendation& recommendation) {
  std::vector<JobOption> jobs = recommendation.runners_up;
  if (recommendation.best) jobs.insert(jobs.begin(), *recommendation.best);
  return jobs;
}

inline Partition partition(const std::string& name, int most_gpus, double hours) {
  Partition out;
  out.name = name, out.most_gpus = most_gpus, out.longest = seconds(3600 * hours);
  return out;
}

inline bool has_note(const Recommendation& recommendation, const std::string& words) {
  return std::any_of(recommendation.notes.begin(), recommendation.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace foretrain::test
