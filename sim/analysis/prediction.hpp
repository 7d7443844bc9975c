// The answer: predicted times per number of GPUs, where they go, and where adding GPUs stops paying.
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

/// Neighbouring numbers of GPUs that a person would request, both ends included.
struct GpuRange {
  int first = 1, last = 1;
  friend bool operator==(const GpuRange&, const GpuRange&) = default;
};

/// The numbers of GPUs that reach an efficiency.
struct WorthRequesting {
  double efficiency = 0.9;
  int every_up_to = 1;  ///< from 1 to this, all that a person would request
  int most = 1;         ///< the largest number that does; those between may miss it
  friend bool operator==(const WorthRequesting&, const WorthRequesting&) = default;
};

/// One thing that a step on many GPUs loses time to.
struct LossPart {
  std::string what;
  double seconds = 0;
  double share = 0;  ///< of the whole loss
};

/// What a step takes longer than it would if every GPU were as fast as one alone: the parts sum to the loss,
/// their shares to 1.
struct CrossoverCause {
  int gpus = 1;
  double loss_s = 0;
  std::vector<LossPart> parts{};  ///< largest first; empty when nothing is lost
};

/// Where adding GPUs stops paying; each answer as docs/models/crossover.md defines it, over the numbers that
/// a person would request.
struct Crossover {
  int fastest_gpus = 1;  ///< the fewest GPUs that come within 0.1 % of the largest throughput
  std::vector<GpuRange> slower_than_one_gpu{};  ///< throughput at least 2 % below that of one GPU
  std::vector<GpuRange> slower_than_fewer{};    ///< at least 2 % below that of some smaller number
  /// Smallest number beyond the fastest; none when the whole cluster is fastest.
  std::optional<int> no_gain_from;
  std::optional<int> efficiency_below_90, efficiency_below_80, efficiency_below_70, efficiency_below_50;
  std::vector<WorthRequesting> worth_requesting{};  ///< at 90, 80, 70 and 50 %
  std::vector<CrossoverCause> causes{};             ///< at each of the answers, fewest GPUs first
  std::string cause;
  int searched = 1;   ///< the answers are about 1 to this
  int numbers = 1;    ///< so many of which a person would request
  int simulated = 0;  ///< of these, for the answers
  /// false: too expensive to look everywhere, dips between simulated numbers may be missed.
  bool is_certain = true;
};

inline std::optional<int> first_of_ranges(const std::vector<GpuRange>& ranges) {
  return ranges.empty() ? std::nullopt : std::optional(ranges.front().first);
}

/// The number whose loss tells most: the first that is slower than one GPU, or below 90 %.
inline std::optional<int> informative_number(const Crossover& c) {
  return c.slower_than_one_gpu.empty() ? c.efficiency_below_90 : first_of_ranges(c.slower_than_one_gpu);
}

/// How far the answers of a crossover may be off: 90 % of the draws of all inputs, over the numbers of GPUs
/// that were simulated.
struct CrossoverSpread {
  int fastest_low = 1, fastest_high = 1;
  double chance_slower_than_one = 0;                     ///< that some number of GPUs is slower than one
  std::optional<int> slower_from_low, slower_from_high;  ///< where; none: never
};

/// A way to run the job: on all of its nodes, or without some.
struct MixingChoice {
  std::string what;      ///< "all", "without v100 (2 nodes)"
  std::string left_out;  ///< "the 2 v100 nodes"; empty: none is
  int gpus = 1, nodes = 1;
  std::int64_t global_batch = 0;
  double step_s = 0, samples_per_s = 0;
  std::optional<double> total_s{};  ///< where the data set's size is known
  bool fits = true;
};

/// What it costs that the ranks of a job are not alike.
struct Mixing {
  int gpus = 1;
  std::vector<UnlikeShare> ranks{};
  std::vector<MixingChoice> choices{};  ///< all of them first
  std::size_t best = 0;                 ///< of those that fit the one with most samples/s
  std::string verdict{};                ///< a sentence without its full stop
};

/// How a warning begins that says what speedups count from where one GPU cannot run the training.
inline constexpr std::string_view kBaselineWarning = "speedups and efficiencies";

/// The prediction of one scenario for every number of GPUs that was asked for. Times are in seconds, sizes in
/// bytes, rates in samples per second.
struct Prediction {
  std::string scenario, model, cluster, strategy, precision;
  bool strong_scaling = false;
  std::int64_t global_batch = 0;  ///< with strong scaling that which was asked for
  int cluster_gpus = 0;
  double epochs = 1;
  std::int64_t samples = 0;  ///< of the data set; 0 = unknown, then an epoch is one step
  std::vector<PredictionPoint> points;
  Answer answer{};
  bool cannot_run = false;  ///< no listed number of GPUs has the memory: no speedups, intervals, answers
  Crossover crossover;
  CrossoverSpread crossover_spread;
  std::optional<Sensitivity> sensitivity{};  ///< when asked for
  std::string to_narrow{};                   ///< of a wide interval what to measure; empty: none is wide
  std::optional<Recommendation> recommendation{};  ///< when asked for
  std::optional<BreakEven> break_even{};           ///< when asked for
  std::optional<AppliedEvidence> evidence{};       ///< when a field was given, as far as it reaches
  std::optional<Mixing> mixing{};                  ///< where ranks are not alike
  std::string kind_batches{};  ///< "32 on v100, 64 on a100"; empty: every GPU has the same batch
  Decisions decisions;
  std::vector<std::string> warnings;
  std::vector<std::string> extrapolated{};  ///< where no measured job stands behind the intervals
  std::string note;
};

}  // namespace foretrain
