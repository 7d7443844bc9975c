// The answer: predicted times per number of GPUs, where they go, and where adding GPUs stops paying.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/break_even.hpp"
#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/memory.hpp"

namespace foretrain {

/// Seconds of one step per account, by Account's order. Sums to the step.
using Breakdown = std::array<double, kAccountCount>;

/// Where the true step time lies with probability `level`.
struct Interval {
  double low_s = 0, high_s = 0, level = 0.9;
};

/// Seconds of the whole run that are no training steps.
struct AroundSteps {
  double startup_s = 0, loader_restart_s = 0, validation_s = 0, checkpoint_s = 0;
  double periodic_s = 0;  ///< work of a given duration under other names than validation and checkpoint
  double total_s() const { return startup_s + loader_restart_s + validation_s + checkpoint_s + periodic_s; }
};

/// One number of GPUs.
struct PredictionPoint {
  int gpus = 1, nodes = 1;
  std::int64_t batch_per_gpu = 0, global_batch = 0, steps_per_epoch = 1;
  double step_s = 0, epoch_s = 0, total_s = 0;
  double samples_per_s = 0;
  double speedup = 1;     ///< samples_per_s over that of one GPU
  double efficiency = 1;  ///< speedup / gpus
  double gpu_hours = 0;
  AroundSteps around;  ///< part of total_s
  Interval interval;   ///< of step_s
  MemoryUse memory;
  Bytes memory_capacity{};
  std::int64_t largest_batch = 0;  ///< per GPU and micro-step that fits; 0 = not even one sample does
  Breakdown breakdown{};
  std::vector<Bytes> buckets;
  bool fits() const { return memory.least() <= memory_capacity; }
  /// Fits, but not with the scratch memory of the fastest convolutions.
  bool fits_tightly() const { return fits() && memory.total() > memory_capacity; }
};

/// The numbers of GPUs that reach an efficiency.
struct WorthRequesting {
  double efficiency = 0.9;
  int every_up_to = 1;  ///< all of 1 to this
  int most = 1;         ///< the largest number that does; those between may miss it
  friend bool operator==(const WorthRequesting&, const WorthRequesting&) = default;
};

/// One thing that a step on many GPUs loses time to.
struct LossPart {
  std::string what;
  double seconds = 0;
  double share = 0;  ///< of the whole loss
};

/// What a step takes longer than it would if every GPU were as fast as one alone: the parts sum to the loss, their shares to 1.
struct CrossoverCause {
  int gpus = 1;
  double loss_s = 0;
  std::vector<LossPart> parts{};  ///< largest first; empty when nothing is lost
};

/// Where adding GPUs stops paying; each answer as docs/models/crossover.md defines it.
struct Crossover {
  int fastest_gpus = 1;                          ///< the fewest GPUs that come within 0.1 % of the largest throughput
  std::optional<int> slower_than_one_gpu_from;   ///< smallest N > 1 with a lower throughput than one GPU
  std::optional<int> slower_than_previous_from;  ///< smallest N > 1 with a throughput more than 0.1 % below that of N - 1
  std::optional<int> no_gain_from;               ///< smallest N beyond the fastest that is searched; none when the whole cluster is fastest
  std::optional<int> efficiency_below_90, efficiency_below_80, efficiency_below_70, efficiency_below_50;
  std::vector<WorthRequesting> worth_requesting{};  ///< at 90, 80, 70 and 50 %
  std::vector<CrossoverCause> causes{};             ///< at each of the answers, fewest GPUs first
  std::string cause;
  int searched = 1;        ///< the answers are about 1 to this
  int simulated = 0;       ///< numbers of GPUs that were simulated for them
  bool is_certain = true;  ///< false: too expensive to look everywhere, dips between simulated numbers may be missed
};

struct Prediction {
  std::string scenario, model, cluster, strategy, precision;
  bool strong_scaling = false;
  int cluster_gpus = 0;
  double epochs = 1;
  std::int64_t samples = 0;  ///< of the data set; 0 = unknown, then an epoch is one step
  std::vector<PredictionPoint> points;
  Crossover crossover;
  std::optional<BreakEven> break_even{};  ///< when asked for
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

}  // namespace foretrain
