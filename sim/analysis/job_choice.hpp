// Choosing among jobs: limits first, then the goal, then two others and what they trade.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/recommendation.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

struct CostUnit {
  std::string name;
  std::optional<double> per_gpu_hour;  ///< none: as the site bills
};

/// The best of the options that fit into memory and keep the limits; runners-up are the best by the other goals, else the next by this one.
Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request, const CostUnit& unit);

/// What a job script for it needs.
JobPlan plan_of(const Scenario& scenario, const JobOption& job);

}  // namespace foretrain
