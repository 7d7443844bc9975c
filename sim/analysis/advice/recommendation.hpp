// What to ask a cluster for: one job and two others with what they trade, and the limits that were kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/search/paying.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/import/jobs/job_plan.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// fastest: the shortest run. cheapest: the least cost. balanced: with a deadline the smallest job that keeps
/// it, otherwise twice the GPUs as long as each doubling buys at least RecommendationRequest::efficiency (a
/// quarter of an hour is as good as less).
enum class Goal : std::uint8_t { fastest, cheapest, balanced };
inline constexpr std::array<std::string_view, 3> kGoalNames{"fastest", "cheapest", "balanced"};
inline std::string_view name_of(Goal goal) { return kGoalNames[static_cast<std::size_t>(goal)]; }

/// What a recommended job must keep: goal, deadline, budget and limits on GPUs. Members without a value set
/// no limit.
struct RecommendationRequest {
  Goal goal = Goal::balanced;
  std::optional<double> deadline_s;  ///< the run, without queueing, ends in time with 95 %
  std::optional<double> budget_gpu_hours;
  double efficiency = kPays;         ///< of each doubling: twice the GPUs are at least 2 x efficiency as fast
  std::vector<int> only_gpus{};      ///< numbers that may be asked for; empty: every requestable one
  std::vector<std::string> fixed{};  ///< keys of [parallel] that keep the scenario's value
  int most_gpus = 0, most_nodes = 0;         ///< 0: no limit
  int first_run_nodes = kFirstRunNodes;      ///< a balanced job without a deadline has no more; 0: no limit
  std::optional<double> price_per_gpu_hour;  ///< in any currency; takes the place of the cluster's billing
  double queue_wait_s = 0;                   ///< of a job of any size that `queue_waits_s` has not
  std::map<int, double> queue_waits_s{};     ///< by the number of GPUs
};

/// One way to run the training.
struct JobOption {
  std::string strategy;
  PredictionPoint point;  ///< speedup against the scenario's own strategy on one GPU
  int accumulation = 1;
  int workers_per_gpu = 0;                 ///< 0: none, or the scenario says nothing of loading
  std::string partition;                   ///< empty: the cluster's file names none
  double time_limit_s = 0;                 ///< of one job
  bool fills_nodes = true;                 ///< it takes every GPU of its nodes
  int jobs = 1;                            ///< in a row, where the partition allows less than the run takes
  double gpu_hours = 0;                    ///< of the GPUs that are paid
  double gpu_energy_kwh = 0;               ///< of the GPUs alone; 0: unknown
  double energy_kwh = 0;                   ///< with the job's share of its nodes; 0: unknown
  double cost = 0;                         ///< Recommendation::cost_unit
  double time_to_result_s = 0;             ///< with the wait in the queue
  std::optional<double> keeps_deadline{};  ///< probability that it ends in time; none: no deadline was given
  std::string trade;                       ///< of a runner-up: what it gives and takes
  std::optional<LargeModelRun> layout{};   ///< of [parallel]; `strategy` is then its name
};

/// A run of some minutes whose measured speed narrows the prediction more than anything that is calculated.
struct ConfirmingRun {
  JobPlan plan;  ///< without epochs
  int steps = 0;
  double duration_s = 0;  ///< with start-up
};

/// The job to ask for, the alternatives on both sides of it, and everything that was considered.
struct Recommendation {
  Goal goal = Goal::balanced;
  std::optional<double> deadline_s{};  ///< of the request
  std::string cost_unit;               ///< "GPU-h", the site's unit, or "" for a given price
  bool has_queue_wait = false;
  std::optional<JobOption> best;  ///< none: no job keeps the limits, see `why_none`
  /// The next smaller and the next larger job; a smaller one may miss the deadline, and its trade says so.
  std::vector<JobOption> runners_up;
  std::vector<JobOption> looked_at;       ///< all that were, by growing number of GPUs
  double grid_g_per_kwh = 0;              ///< of the site; 0: unknown
  std::vector<ConfirmingRun> confirming;  ///< the two shortest that would tell whether `best` is right
  std::string why_none;
  std::vector<std::string> notes;     ///< about batch, workers, strategies
  std::string next_step{};            ///< the first of them that asks for something; empty: none does
  std::vector<std::string> warnings;  ///< what changes the training
  JobPlan plan;                       ///< of `best`, for a job script
};

}  // namespace foretrain
