// Choosing among jobs: limits first, then the goal, then two others and what they trade.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

struct CostUnit {
  std::string name;
  std::optional<double> per_gpu_hour;  ///< none: as the site bills
};

/// The best of the options that fit into memory and keep the limits; runners-up are the best by the other
/// goals, else the next by this one.
Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request,
                           const CostUnit& unit);

/// Why a job is out, as the end of a sentence; empty when it trains, fits into memory and keeps the limits.
std::string broken_limit(const JobOption& job, const RecommendationRequest& request);

/// Says of each runner-up what it gives and takes against the best.
void add_trades(Recommendation& recommendation);

/// What a job script for it needs.
JobPlan plan_of(const Scenario& scenario, const JobOption& job);

}  // namespace foretrain
