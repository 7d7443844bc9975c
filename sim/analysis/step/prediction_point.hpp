// One number of GPUs: predicted times, where they go, how sure they are, and whether the training fits.
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

/// Seconds of one step per account, by Account's order. Sums to the step.
using Breakdown = std::array<double, kAccountCount>;

/// Where the true time lies with probability `level`.
struct Interval {
  double low_s = 0, high_s = 0, level = 0.9;
};

/// The same of a number without a unit.
struct Range {
  double low = 0, high = 0;
};

/// Seconds of the whole run that are no training steps.
struct RunOverhead {
  double startup_s = 0, loader_restart_s = 0, validation_s = 0, checkpoint_s = 0;
  double periodic_s = 0;  ///< work of a given duration under other names than validation and checkpoint
  double total_s() const { return startup_s + loader_restart_s + validation_s + checkpoint_s + periodic_s; }
};

/// What one uncertain input alone does to the time of the run, the others as predicted: its 5 % and 95 %
/// quantiles.
struct TornadoBar {
  std::string input, origin;
  double low_s = 0, high_s = 0;
  double share = 0;  ///< of the variance that the inputs make together
};

/// The interval of the run's time once something has been measured.
struct NarrowedBy {
  std::string measurement;
  double low_s = 0, high_s = 0;
};

/// Which inputs matter on so many GPUs, largest first, and which measurement would narrow the answer most,
/// best first.
struct Sensitivity {
  int gpus = 1;
  bool is_of_step = false;  ///< the data set's size is unknown: all seconds are those of a step, not of a run
  double total_s = 0;       ///< of the run, or of a step
  Interval interval;        ///< of total_s
  std::vector<TornadoBar> bars;
  std::vector<NarrowedBy> narrowed;
};

/// Ranks of a job that are not like its others: by node, batch or clock.
struct UnlikeShare {
  std::string kind;  ///< of node
  int nodes = 1, gpus = 1;
  std::int64_t batch_per_gpu = 1;
  double clock = 1;                    ///< over that of other GPUs of the kind
  double own_step_s = 0, waits_s = 0;  ///< of the step; both sum to it where ranks wait for each other
  MemoryUse memory;
  Bytes memory_capacity{};
  std::int64_t largest_batch = 0;
};

/// What a job of several degrees has besides.
struct LargeModelPoint {
  std::string layout;  ///< "TP 8 x PP 4 x DP 2"
  std::int64_t micro_batches = 1;
  double tokens_per_s_per_gpu = 0;
  double model_tflops = 0;     ///< a GPU: 3 x forward, the causal half of attention, nothing recomputed
  double mfu = 0;              ///< that over the peak of the products' precision
  double bubble = 0;           ///< share of the step in which the busiest stage has nothing to do
  double tensor_between = 0;   ///< share in which it waits for tensor ranks of other nodes
  int fullest_stage = 0;       ///< whose memory decides
  std::string largest_memory;  ///< its largest part, and what makes it smaller
};

/// One number of GPUs.
struct PredictionPoint {
  int gpus = 1, nodes = 1;
  std::int64_t batch_per_gpu = 0;    ///< of a micro-step; where ranks are not alike that of rank 0
  std::int64_t global_batch = 0;     ///< samples of an optimizer step, those of all ranks counted
  std::int64_t steps_per_epoch = 1;  ///< 0: drop_last leaves none
  bool knows_epochs = true;          ///< false: the data set's size is unknown, and an epoch is one step
  double step_s = 0, epoch_s = 0, total_s = 0;
  double samples_per_s = 0;  ///< samples of a step, each counted once, over step_s
  double speedup = 1;        ///< samples_per_s over that of one GPU
  double efficiency = 1;     ///< speedup / gpus
  double gpu_hours = 0;
  RunOverhead overhead;  ///< part of total_s
  Interval interval;     ///< of step_s
  Interval epoch_interval, total_interval;
  Range speedup_range;        ///< 90 %, as all intervals
  double chance_of_gain = 1;  ///< probability that these GPUs are faster than one
  MemoryUse memory;           ///< with as much scratch memory of convolutions as the GPU has room for
  Bytes memory_capacity{};
  std::optional<MemoryLedger> ledger{};  ///< of the listed numbers of GPUs, where all ranks are alike
  HostMemoryUse host_memory;             ///< of the fullest node, where something is offloaded
  Bytes host_capacity{};                 ///< what that node has; 0: the cluster does not state it
  Bytes scratch_wanted{};                ///< scratch memory that the fastest convolutions would take
  std::int64_t largest_batch = 0;  ///< per GPU and micro-step that fits with it; 0: not even one sample does
  Breakdown breakdown{};           ///< of rank 0
  std::vector<Bytes> buckets;
  std::optional<LargeModelPoint> large{};  ///< of [parallel]
  std::vector<UnlikeShare> unlike{};       ///< empty: all ranks are alike
  std::string memory_kind{};      ///< of unlike nodes those with the least memory to spare, which decide
  double waits_for_slower_s = 0;  ///< part of rank 0's exposed communication
  bool fits() const { return memory.total() <= memory_capacity && host_fits(); }
  bool knows_host() const { return host_capacity.count > 0; }
  bool host_fits() const {
    return !host_memory.is_used() || !knows_host() || host_memory.total() <= host_capacity;
  }
  /// Fits, but not with the scratch memory of the fastest convolutions.
  bool fits_tightly() const { return fits() && memory.workspace < scratch_wanted; }
};

}  // namespace foretrain
