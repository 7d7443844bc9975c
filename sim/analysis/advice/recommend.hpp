// The search for the job to ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The job to ask for, chosen among what the scenario's model of a step (sim/analysis/step/step_model.hpp)
/// can vary: recommend_strategies() or recommend_layouts(). Throws InputError when the data set's size is
/// unknown.
Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                         const Progress& progress = nullptr, const EvidenceUse& evidence = {});

/// The scenario, and the strategies that a recommendation weighs against its own.
ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides);

/// The scenario's own strategy on every number of GPUs worth asking for, started as one process per GPU where
/// it has those; at the best of them more workers where the step waits for input. What the strategies of
/// `scenarios` would change there is a note. A training that fits no number of GPUs is cut into micro-steps.
Recommendation recommend_strategies(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                    const Progress& progress, const EvidenceUse& evidence);
/// Strategies to weigh beside the scenario's own: those of its framework that are launched in the same way.
std::vector<std::string> other_strategies(const Scenario& own);

/// For each number of GPUs the layout that `foretrain plan` names first, keys in `request.fixed` as the
/// scenario has them. No evidence is about layouts.
Recommendation recommend_layouts(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                 const Progress& progress, const EvidenceUse& evidence);  // layout_choice.cpp

/// What a job script for a layout needs; its time limit is the upper end of the run's interval and a tenth.
/// Requires a data set whose size is known.
JobPlan plan_of_layout(const Scenario& scenario, const ModelLayout& layout);  // layout_choice.cpp

/// Numbers of GPUs that may be asked for within the limits of the request, ascending.
std::vector<int> numbers_within(const Scenario& scenario, const RecommendationRequest& request);

/// Throws InputError where nobody knows how long the run is.
void refuse_unknown_length(const Scenario& scenario);
/// Throws InputError where the listed numbers of GPUs all exceed the request's own limits.
void refuse_contradiction(const Scenario& scenario, const RecommendationRequest& request);

// Choosing among jobs: limits first, then the goal (job_order.hpp), then two others and what they trade.

/// The unit in which a site bills jobs, and its price for a GPU-hour where the user gave one.
struct CostUnit {
  std::string name;
  std::optional<double> per_gpu_hour;  ///< none: as the site bills
};

/// Whether the site's file says what an hour costs.
bool is_billed(const Billing& rates);  // job_price.cpp
/// What the request or the site counts in.
CostUnit billing_of(const Scenario& scenario, const RecommendationRequest& request);
/// Partition, time limit, GPU-hours, energy and cost of an option whose point is known.
void price_job(JobOption& job, const Scenario& scenario,
               const RecommendationRequest& request);  // job_price.cpp

/// The two shortest runs that would tell whether the best is right.
std::vector<ConfirmingRun> confirming_runs(const Scenario& scenario, const Recommendation& recommendation);

/// The best of the options that fit into memory and keep the limits, with the next smaller and the next
/// larger job.
Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request,
                           const CostUnit& unit);

/// Why a job is out, as the end of a sentence; empty when it trains, fits into memory and keeps the limits.
std::string broken_limit(const JobOption& job, const RecommendationRequest& request);

/// A job is in time when it ends before the deadline with this probability: the upper end of a 90 % interval.
inline constexpr double kInTime = 0.95;
/// The probability that a run of `total_s`, the median, ends by then, by its 90 % interval (chance_below()).
double chance_in_time(double total_s, const Interval& total, double deadline_s);

/// Up to two jobs beside the best: that of half its GPUs, which may miss the deadline, and that of twice as
/// many, or the nearest ones; both on one side where the other side has none. Options come by growing number
/// of GPUs.
std::vector<JobOption> alternative_jobs(const std::vector<JobOption>& options, const JobOption& best,
                                        const RecommendationRequest& request);
/// Says of each runner-up what it gives and takes against the best.
void add_trades(Recommendation& recommendation);  // job_trades.cpp

/// What a job script for it needs.
JobPlan plan_of(const Scenario& scenario, const JobOption& job);

// How many GPUs a person would request.

/// Every number in one node, then whole nodes: 2, 3, 4, 6, 8, 12, 16, … and the most that a partition or the
/// cluster has; as far as the strategy can use them, a partition gives them, they share a global batch, and
/// each node has as many. Ascending.
std::vector<int> requestable_gpu_counts(const Scenario& scenario);

/// Whether a job can have so many: the strategy, a partition, and as many on each node.
bool can_be_requested(const Scenario& scenario, int gpus);

// Whether a job ends before its time limit does.

/// Seconds of the whole run on the upper end of the step's interval; what is no training step is taken as
/// predicted.
double latest_end_s(const PredictionPoint& point);

/// Why a limit of `limit_s` seconds is too short for the run on `gpus` GPUs; empty when it is not, when the
/// run is not in the prediction, when the data set's size is unknown (an epoch is then one step), or without
/// a limit (0).
std::string time_limit_warning(std::int64_t limit_s, int gpus, const Prediction& prediction);

// Whether the loader's batches have room in a container.

/// What the loader workers of so many processes keep in /dev/shm; 0 for loaders that use threads.
Bytes loader_shared_memory(const Workload& workload, int processes);

/// Why `have` bytes of /dev/shm are too small for them; empty when they are not.
std::string shared_memory_warning(Bytes have, const Workload& workload, int processes);

}  // namespace foretrain
