// A recommendation: one job to request, two alternatives with what they trade, and the limits that were kept.
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

/// The goal of a recommendation. fastest: the shortest run. cheapest: the least cost. balanced: with a
/// deadline the smallest job that keeps it, otherwise twice the GPUs as long as each doubling reaches
/// RecommendationRequest::efficiency. For the balanced goal, runs below a quarter of an hour count as equal.
enum class Goal : std::uint8_t { fastest, cheapest, balanced };
inline constexpr std::array<std::string_view, 3> kGoalNames{"fastest", "cheapest", "balanced"};
inline std::string_view name_of(Goal goal) { return kGoalNames[static_cast<std::size_t>(goal)]; }

/// The goal and the limits of a recommended job. Members without a value set no limit.
struct RecommendationRequest {
  Goal goal = Goal::balanced;
  /// Seconds within which the run, without queueing, ends with a probability of 95 %.
  std::optional<double> deadline_s;
  std::optional<double> budget_gpu_hours;
  /// Efficiency of each doubling: twice the GPUs are at least 2 x efficiency times as fast.
  double efficiency = kPays;
  /// Numbers that may be requested; empty for every requestable one.
  std::vector<int> only_gpus{};
  /// Keys of [parallel] that keep the scenario's value.
  std::vector<std::string> fixed{};
  /// Limits on GPUs and nodes; 0 for none.
  int most_gpus = 0, most_nodes = 0;
  /// Most nodes of a balanced job without a deadline; 0 for no limit.
  int first_run_nodes = kFirstRunNodes;
  /// Price in any currency; replaces the cluster's billing.
  std::optional<double> price_per_gpu_hour;
  /// Seconds in the queue of a job whose size `queue_waits_s` does not have.
  double queue_wait_s = 0;
  /// Seconds in the queue by number of GPUs.
  std::map<int, double> queue_waits_s{};
};

/// A way to run the training.
struct JobOption {
  std::string strategy;
  /// Its prediction; speedup counts from the scenario's own strategy on one GPU.
  PredictionPoint point;
  int accumulation = 1;
  /// Loader workers; 0 for none, or where the scenario does not state how data is loaded.
  int workers_per_gpu = 0;
  /// Name of the partition; empty where the cluster's file has none.
  std::string partition;
  /// Time limit of one job.
  double time_limit_s = 0;
  /// True if it takes every GPU of its nodes.
  bool fills_nodes = true;
  /// Jobs in a row, where the partition allows less time than the run takes.
  int jobs = 1;
  /// Hours of the GPUs that are billed.
  double gpu_hours = 0;
  /// Energy of the GPUs alone; 0 if unknown.
  double gpu_energy_kwh = 0;
  /// Energy with the job's share of its nodes; 0 if unknown.
  double energy_kwh = 0;
  /// Cost in Recommendation::cost_unit.
  double cost = 0;
  /// Seconds with the wait in the queue.
  double time_to_result_s = 0;
  /// Probability that it ends in time; absent without a deadline.
  std::optional<double> keeps_deadline{};
  /// Sentence on what an alternative gains and loses.
  std::string trade;
  /// Layout of [parallel]; `strategy` is then its name.
  std::optional<LargeModelRun> layout{};
};

/// A run of some minutes, whose measured speed narrows the prediction more than any calculation.
struct ConfirmingRun {
  /// Plan of the job, without epochs.
  JobPlan plan;
  int steps = 0;
  /// Seconds with start-up.
  double duration_s = 0;
};

/// The job to request, the alternatives on both sides of it, and everything that was considered.
struct Recommendation {
  Goal goal = Goal::balanced;
  /// Deadline of the request.
  std::optional<double> deadline_s{};
  /// "GPU-h", the site's unit, or "" for a stated price.
  std::string cost_unit;
  bool has_queue_wait = false;
  /// Absent if no job keeps the limits; `why_none` has the reason.
  std::optional<JobOption> best;
  /// Alternatives, usually a smaller and a larger job; a smaller one may miss the deadline, and its trade
  /// says so.
  std::vector<JobOption> runners_up;
  /// Every option that was considered, in ascending order of GPUs.
  std::vector<JobOption> looked_at;
  /// Carbon intensity of the site's electricity in g/kWh; 0 if unknown.
  double grid_g_per_kwh = 0;
  /// The two shortest runs that would show whether `best` is right.
  std::vector<ConfirmingRun> confirming;
  std::string why_none;
  /// Notes about batch, workers and strategies.
  std::vector<std::string> notes;
  /// The first note that requests an action; empty if none does.
  std::string next_step{};
  /// Warnings about settings that change the training.
  std::vector<std::string> warnings;
  /// Plan of `best`, for a job script.
  JobPlan plan;
};

}  // namespace foretrain
