// What to ask a cluster for: one job and two others with what they trade, and the limits that were kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/advice/job_plan.hpp"
#include "sim/analysis/step/prediction_point.hpp"

namespace foretrain {

/// fastest: the shortest run. cheapest: the least cost. balanced: the least product of both, where a
/// quarter of an hour is as good as less.
enum class Goal : std::uint8_t { fastest, cheapest, balanced };
inline constexpr std::array<std::string_view, 3> kGoalNames{"fastest", "cheapest", "balanced"};
inline std::string_view name_of(Goal goal) { return kGoalNames[static_cast<std::size_t>(goal)]; }

struct RecommendationRequest {
  Goal goal = Goal::balanced;
  std::optional<double> deadline_s;  ///< the run, without queueing, ends in time with 95 %
  std::optional<double> budget_gpu_hours;
  std::optional<double> price_per_gpu_hour;  ///< in any currency; takes the place of the cluster's billing
  double queue_wait_s = 0;                   ///< of a job of any size that `queue_waits_s` has not
  std::map<int, double> queue_waits_s{};     ///< by the number of GPUs
};

/// One way to run the training.
struct JobOption {
  std::string strategy;
  PredictionPoint point;  ///< speedup against the scenario's own strategy on one GPU
  int accumulation = 1;
  int workers_per_gpu = 0;      ///< 0: none, or the scenario says nothing of loading
  std::string partition;        ///< empty: the cluster's file names none
  double time_limit_s = 0;      ///< of one job
  int jobs = 1;                 ///< in a row, where the partition allows less than the run takes
  double gpu_hours = 0;         ///< of the GPUs that are paid
  double energy_kwh = 0;        ///< of the GPUs; 0: unknown
  double cost = 0;              ///< Recommendation::cost_unit
  double time_to_result_s = 0;  ///< with the wait in the queue
  std::string trade;            ///< of a runner-up: what it gives and takes
};

struct Recommendation {
  Goal goal = Goal::balanced;
  std::string cost_unit;  ///< "GPU-h", the site's unit, or "" for a given price
  bool has_queue_wait = false;
  std::optional<JobOption> best;  ///< none: no job keeps the limits, see `why_none`
  std::vector<JobOption> runners_up;
  std::string why_none;
  std::vector<std::string> notes;  ///< about batch, workers, strategies
  JobPlan plan;                    ///< of `best`, for a job script
};

}  // namespace foretrain
