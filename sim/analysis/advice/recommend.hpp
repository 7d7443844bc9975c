// The search for the job to request: resources and prices of each possible job, the choice among them, and
// checks of time limits and shared memory.
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

/// Returns the job to request, chosen among what the scenario's model of a step
/// (sim/analysis/step/step_model.hpp) can vary: recommend_strategies() or recommend_layouts(). Throws
/// InputError when the data set's size is unknown.
Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                         const Progress& progress = nullptr, const EvidenceUse& evidence = {});

/// Reads the scenario, and the strategies that a recommendation compares with its own.
ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides);

/// Predicts the scenario's own strategy on every number of GPUs worth requesting, with one process for each
/// GPU where the strategy has those. At the best number it tries more workers if the step waits for input.
/// The gain of the other strategies of `scenarios` there becomes a note. A training that fits on no number of
/// GPUs is divided into micro-steps.
Recommendation recommend_strategies(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                    const Progress& progress, const EvidenceUse& evidence);
/// Returns the strategies to compare with the scenario's own: those of its framework that are launched in the
/// same way.
std::vector<std::string> other_strategies(const Scenario& own);

/// Predicts, for each number of GPUs, the layout that `foretrain plan` names first; keys in `request.fixed`
/// stay as the scenario has them. Evidence is ignored, because there is none about layouts.
Recommendation recommend_layouts(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                 const Progress& progress, const EvidenceUse& evidence);  // layout_choice.cpp

/// Returns the plan of a job script for a layout. Its time limit is the upper end of the run's interval and a
/// tenth. Requires a data set whose size is known.
JobPlan plan_of_layout(const Scenario& scenario, const ModelLayout& layout);  // layout_choice.cpp

/// Returns the numbers of GPUs that may be requested within the limits of the request, ascending.
std::vector<int> numbers_within(const Scenario& scenario, const RecommendationRequest& request);

/// Throws InputError where the length of the run is unknown.
void refuse_unknown_length(const Scenario& scenario);
/// Throws InputError where the listed numbers of GPUs all exceed the request's own limits.
void refuse_contradiction(const Scenario& scenario, const RecommendationRequest& request);

// The choice among jobs: limits first, then the goal (job_order.hpp), then two alternatives and their trades.

/// The unit in which costs are counted, and the price of a GPU-hour where the user stated one.
struct CostUnit {
  std::string name;
  /// Absent where the site's own rates apply.
  std::optional<double> per_gpu_hour;
};

/// Returns true if the site's file states the price of an hour.
bool is_billed(const Billing& rates);  // job_price.cpp
/// Returns the unit of the request's price, else the site's unit, else GPU-hours.
CostUnit billing_of(const Scenario& scenario, const RecommendationRequest& request);
/// Sets partition, time limit, GPU-hours, energy and cost of an option whose point is known.
void price_job(JobOption& job, const Scenario& scenario,
               const RecommendationRequest& request);  // job_price.cpp

/// Returns the two shortest runs that would show whether the recommendation is right. Requires
/// recommendation.best.
std::vector<ConfirmingRun> confirming_runs(const Scenario& scenario, const Recommendation& recommendation);

/// Returns the best of the options that fit into memory and keep the limits, with up to two alternatives. If
/// none does, it states the reason for the nearest one.
Recommendation choose_jobs(const std::vector<JobOption>& options, const RecommendationRequest& request,
                           const CostUnit& unit);

/// Returns the reason why a job is excluded, as the end of a sentence; empty if it trains, fits into memory
/// and keeps the limits.
std::string broken_limit(const JobOption& job, const RecommendationRequest& request);

/// Probability of ending before the deadline with which a job is in time: the upper end of a 90 % interval.
inline constexpr double kInTime = 0.95;
/// Returns the probability that a run of the median `total_s` ends by the deadline, from its 90 % interval
/// (chance_below()).
double chance_in_time(double total_s, const Interval& total, double deadline_s);

/// Returns up to two alternatives: the job with half the GPUs of the best, which may miss the deadline, and
/// the one with twice as many, or the nearest ones. Both are on one side where the other side has none.
/// Options must be in ascending order of GPUs.
std::vector<JobOption> alternative_jobs(const std::vector<JobOption>& options, const JobOption& best,
                                        const RecommendationRequest& request);
/// Sets, for each alternative, the sentence on what it gains and loses against the best.
void add_trades(Recommendation& recommendation);  // job_trades.cpp

/// Returns the plan of a job script for this option.
JobPlan plan_of(const Scenario& scenario, const JobOption& job);

// Numbers of GPUs that a person would request.

/// Returns the numbers, ascending: every number in one node, then whole nodes (2, 3, 4, 6, 8, 12, 16, …) and
/// the most that a partition or the cluster has. Only numbers remain that the strategy can use, a partition
/// gives, and a global batch can be divided among, with equally many GPUs on each node.
std::vector<int> requestable_gpu_counts(const Scenario& scenario);

/// Returns true if a job can have this number: the strategy can use it, a partition gives it, and each node
/// has as many.
bool can_be_requested(const Scenario& scenario, int gpus);

// The end of a job against its time limit.

/// Returns the seconds of the whole run at the upper end of its interval.
double latest_end_s(const PredictionPoint& point);

/// Returns the reason why a limit of `limit_s` seconds is too short for the run on `gpus` GPUs. Empty if it
/// is not, if the run is not in the prediction, if the data set's size is unknown (an epoch is then one
/// step), or without a limit (0).
std::string time_limit_warning(std::int64_t limit_s, int gpus, const Prediction& prediction);

// The memory of the loader's batches in a container.

/// Returns the bytes that the loader workers of `processes` processes keep in /dev/shm; 0 for loaders with
/// threads.
Bytes loader_shared_memory(const Workload& workload, int processes);

/// Returns the reason why `have` bytes of /dev/shm are too small for them; empty if they are not.
std::string shared_memory_warning(Bytes have, const Workload& workload, int processes);

}  // namespace foretrain
