// The result of `foretrain predict`: times by number of GPUs, their breakdown, and where adding GPUs stops
// paying.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/search/break_even.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/base/decisions.hpp"

namespace foretrain {

/// A range of neighbouring numbers among those that a person would request, both ends included.
struct GpuRange {
  int first = 1, last = 1;
  friend bool operator==(const GpuRange&, const GpuRange&) = default;
};

/// The numbers of GPUs that reach an efficiency.
struct WorthRequesting {
  double efficiency = 0.9;
  /// Every requested number from 1 to this one reaches it.
  int every_up_to = 1;
  /// The largest number that reaches it; numbers between the two may miss it.
  int most = 1;
  friend bool operator==(const WorthRequesting&, const WorthRequesting&) = default;
};

/// A single cause of the time that a step on many GPUs loses.
struct LossPart {
  std::string what;
  double seconds = 0;
  /// Share of the whole loss.
  double share = 0;
};

/// The loss of a step against one in which every GPU is as fast as one GPU alone. The parts sum to the loss,
/// their shares to 1.
struct CrossoverCause {
  int gpus = 1;
  double loss_s = 0;
  /// Parts in descending order; empty when nothing is lost.
  std::vector<LossPart> parts{};
};

/// The numbers of GPUs where adding GPUs stops paying. docs/models/choices.md defines each answer, over the
/// numbers that a person would request.
struct Crossover {
  /// The fewest GPUs that come within 0.1 % of the largest throughput.
  int fastest_gpus = 1;
  /// Numbers whose throughput is below that of one GPU by more than two runs of one job differ.
  std::vector<GpuRange> slower_than_one_gpu{};
  /// Numbers whose throughput is below that of some smaller number by more than two runs differ.
  std::vector<GpuRange> slower_than_fewer{};
  /// The number after the fastest; none when the whole cluster is fastest.
  std::optional<int> no_gain_from;
  /// First numbers below an efficiency.
  std::optional<int> efficiency_below_90, efficiency_below_80, efficiency_below_70, efficiency_below_50;
  /// Entries for 90, 80, 70 and 50 %.
  std::vector<WorthRequesting> worth_requesting{};
  /// Losses at each of the answers, fewest GPUs first.
  std::vector<CrossoverCause> causes{};
  std::string cause;
  /// The answers are about 1 to this number.
  int searched = 1;
  /// Count of numbers up to it that a person would request.
  int numbers = 1;
  /// Count of those that were simulated.
  int simulated = 0;
  /// False where the curve was too expensive to search everywhere: dips between simulated numbers may be
  /// missed.
  bool is_certain = true;
};

/// Returns the first number of the first range; none if there is no range.
inline std::optional<int> first_of_ranges(const std::vector<GpuRange>& ranges) {
  return ranges.empty() ? std::nullopt : std::optional(ranges.front().first);
}

/// Returns the number whose loss is explained in the answer: the first that is slower than one GPU, else the
/// first below 90 % efficiency.
inline std::optional<int> informative_number(const Crossover& c) {
  return c.slower_than_one_gpu.empty() ? c.efficiency_below_90 : first_of_ranges(c.slower_than_one_gpu);
}

/// Uncertainty of a crossover: 90 % of the draws of all inputs, over the numbers of GPUs that were simulated.
struct CrossoverSpread {
  int fastest_low = 1, fastest_high = 1;
  /// Probability that some number of GPUs is slower than one GPU.
  double chance_slower_than_one = 0;
  /// Range of the first such number; none where it never happens.
  std::optional<int> slower_from_low, slower_from_high;
};

/// A way to run the job: on all of its nodes, or without some of them.
struct MixingChoice {
  /// Short name in tables: "all", "without v100 (2 nodes)".
  std::string what;
  /// Excluded nodes in words, "the 2 v100 nodes"; empty for all nodes.
  std::string left_out;
  int gpus = 1, nodes = 1;
  std::int64_t global_batch = 0;
  double step_s = 0, samples_per_s = 0;
  /// Present where the data set's size is known.
  std::optional<double> total_s{};
  bool fits = true;
};

/// The cost of unlike ranks in one job, and the best choice of nodes.
struct Mixing {
  int gpus = 1;
  std::vector<UnlikeShare> ranks{};
  /// Choices; the job on all its nodes comes first.
  std::vector<MixingChoice> choices{};
  /// Index of the choice with most samples/s among those that fit.
  std::size_t best = 0;
  /// A sentence without its full stop.
  std::string verdict{};
};

/// Beginning of the warning about the baseline of speedups where one GPU cannot run the training.
inline constexpr std::string_view kBaselineWarning = "speedups and efficiencies";

/// The prediction of one scenario for every number of GPUs that was asked for. Times are in seconds, sizes in
/// bytes, rates in samples per second.
struct Prediction {
  std::string scenario, model, cluster, strategy, precision;
  bool strong_scaling = false;
  /// Under strong scaling, the global batch that was asked for.
  std::int64_t global_batch = 0;
  int cluster_gpus = 0;
  double epochs = 1;
  /// Samples of the data set; 0 if unknown, and an epoch is then one step.
  std::int64_t samples = 0;
  std::vector<PredictionPoint> points;
  Answer answer{};
  /// True if no listed number of GPUs has the memory: there are then no speedups, intervals or crossover.
  bool cannot_run = false;
  Crossover crossover;
  CrossoverSpread crossover_spread;
  /// Present when asked for.
  std::optional<Sensitivity> sensitivity{};
  /// The measurement that would narrow a wide interval; empty if no interval is wide.
  std::string to_narrow{};
  /// Set by the caller of recommend(), when asked for.
  std::optional<Recommendation> recommendation{};
  /// Present when asked for.
  std::optional<BreakEven> break_even{};
  /// Present when measured runs were given and reach this scenario.
  std::optional<AppliedEvidence> evidence{};
  /// Present where ranks are not alike.
  std::optional<Mixing> mixing{};
  /// Batches by kind of node, "32 on v100, 64 on a100"; empty where every GPU has the same.
  std::string kind_batches{};
  Decisions decisions;
  std::vector<std::string> warnings;
  /// Points of this prediction that go beyond all measured jobs.
  std::vector<std::string> extrapolated{};
  std::string note;
};

}  // namespace foretrain
