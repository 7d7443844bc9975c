// The prediction for one number of GPUs: times, their breakdown, their uncertainty, and memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/memory.hpp"

namespace foretrain {

/// Seconds of one step per account, in the order of Account. The accounts sum to the step.
using Breakdown = std::array<double, kAccountCount>;

/// A range in seconds that holds the true time with probability `level`.
struct Interval {
  double low_s = 0, high_s = 0, level = 0.9;
};

/// A range of a number without a unit.
struct Range {
  double low = 0, high = 0;
};

/// Seconds of the whole run outside its training steps.
struct RunOverhead {
  double startup_s = 0, loader_restart_s = 0, validation_s = 0, checkpoint_s = 0;
  /// Periodic work of a stated duration that is neither validation nor checkpoint.
  double periodic_s = 0;
  double total_s() const { return startup_s + loader_restart_s + validation_s + checkpoint_s + periodic_s; }
};

/// A bar of the tornado diagram: the 5 % and 95 % quantiles of the run's time when one uncertain input varies
/// alone and all others are as predicted.
struct TornadoBar {
  std::string input, origin;
  double low_s = 0, high_s = 0;
  /// Share of the variance that all inputs cause together.
  double share = 0;
};

/// The interval of the run's time after one further measurement.
struct NarrowedBy {
  std::string measurement;
  double low_s = 0, high_s = 0;
};

/// The sensitivity of one number of GPUs: bars in descending order of width, and the measurements that would
/// narrow the answer, best first.
struct Sensitivity {
  int gpus = 1;
  /// True where the data set's size is unknown: all seconds are then those of a step, not of a run.
  bool is_of_step = false;
  /// Seconds of the run, or of a step.
  double total_s = 0;
  /// Interval of total_s.
  Interval interval;
  std::vector<TornadoBar> bars;
  std::vector<NarrowedBy> narrowed;
};

/// Ranks of a job that differ from its others by node, batch or clock.
struct UnlikeShare {
  /// Kind of node.
  std::string kind;
  int nodes = 1, gpus = 1;
  std::int64_t batch_per_gpu = 1;
  /// Clock relative to other GPUs of the kind.
  double clock = 1;
  /// Seconds of the step by themselves, and seconds of waiting for slower ranks. Both sum to the step where
  /// ranks wait for each other.
  double own_step_s = 0, waits_s = 0;
  MemoryUse memory;
  Bytes memory_capacity{};
  std::int64_t largest_batch = 0;
};

/// Further figures of a point with a layout of [parallel].
struct LargeModelPoint {
  /// The degrees in words: "TP 8 x PP 4 x DP 2".
  std::string layout;
  std::int64_t micro_batches = 1;
  double tokens_per_s_per_gpu = 0;
  /// TFLOP/s of one GPU: 3 x forward with the causal half of attention, nothing recomputed.
  double model_tflops = 0;
  /// Model FLOPs utilization: the rate above over the peak of the products' precision.
  double mfu = 0;
  /// Share of the step in which the busiest stage has nothing to do.
  double bubble = 0;
  /// Share of the step in which that stage waits for tensor ranks of other nodes.
  double tensor_between = 0;
  /// Index of the stage with the most memory, which decides whether the training fits.
  int fullest_stage = 0;
  /// The largest part of that stage's memory, and what makes it smaller.
  std::string largest_memory;
};

/// The figures of one number of GPUs. Some have a value even where they are unknown; known_figures() says
/// which ones a report may show.
struct PredictionPoint {
  int gpus = 1, nodes = 1;
  /// Samples of a micro-step on one GPU; rank 0's where ranks are unlike.
  std::int64_t batch_per_gpu = 0;
  /// Samples of an optimizer step over all ranks, repeated ones included.
  std::int64_t global_batch = 0;
  /// Steps of an epoch; 0 where drop_last leaves none.
  std::int64_t steps_per_epoch = 1;
  /// False where the data set's size is unknown; an epoch is then one step.
  bool knows_epochs = true;
  double step_s = 0, epoch_s = 0, total_s = 0;
  /// Samples of a step, each counted once, over step_s.
  double samples_per_s = 0;
  /// samples_per_s relative to the baseline, one GPU where it can run.
  double speedup = 1;
  /// Speedup divided by the number of GPUs.
  double efficiency = 1;
  double gpu_hours = 0;
  /// The part of total_s outside training steps.
  RunOverhead overhead;
  /// Interval of step_s.
  Interval interval;
  Interval epoch_interval, total_interval;
  /// Interval of the speedup at 90 %, as all intervals.
  Range speedup_range;
  /// Probability that these GPUs are faster than one.
  double chance_of_gain = 1;
  /// Memory of a GPU, with as much scratch memory of convolutions as the rest leaves.
  MemoryUse memory;
  Bytes memory_capacity{};
  /// Present for the listed numbers of GPUs, where all ranks are alike.
  std::optional<MemoryLedger> ledger{};
  /// Memory of the fullest node, where something is offloaded.
  HostMemoryUse host_memory;
  /// Memory that this node has; 0 where the cluster does not state it.
  Bytes host_capacity{};
  /// Scratch memory that the fastest convolutions would take.
  Bytes scratch_wanted{};
  /// Largest batch per GPU and micro-step that fits; 0 where not even one sample does.
  std::int64_t largest_batch = 0;
  /// Accounts of rank 0.
  Breakdown breakdown{};
  std::vector<Bytes> buckets;
  /// Present with a layout of [parallel].
  std::optional<LargeModelPoint> large{};
  /// Rows by kind of rank; empty where all ranks are alike.
  std::vector<UnlikeShare> unlike{};
  /// Kind of node with the least memory to spare, which decides; empty where all are alike.
  std::string memory_kind{};
  /// The part of rank 0's exposed communication that waits for slower ranks.
  double waits_for_slower_s = 0;
  bool fits() const { return memory.total() <= memory_capacity && host_fits(); }
  bool knows_host() const { return host_capacity.count > 0; }
  bool host_fits() const {
    return !host_memory.is_used() || !knows_host() || host_memory.total() <= host_capacity;
  }
  /// Returns true if the training fits, but not with the scratch memory of the fastest convolutions.
  bool fits_tightly() const { return fits() && memory.workspace < scratch_wanted; }
};

}  // namespace foretrain
