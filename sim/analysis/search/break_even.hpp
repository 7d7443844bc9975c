// The inverse questions: the batch, the network's width or the epoch with which N GPUs beat one, and the
// speed of the link that bounds them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The value of one quantity at which an answer changes.
struct BreakEvenValue {
  /// The scenario's own value.
  double now = 0;
  /// True if N GPUs beat one GPU already.
  bool beats_now = false;
  /// The value at which the answer changes, if there is one within `limit`: the smallest with which N GPUs
  /// beat one, unless `is_upper`.
  std::optional<double> at{};
  /// Largest (or smallest) value that was tried.
  double limit = 0;
  /// True if less of the quantity helps; `at` is then the largest value at which N GPUs beat one.
  bool is_upper = false;
  /// True if the training at that value fits into the GPU's memory.
  bool fits = true;
  /// The reason why there is no answer; all other fields are then empty.
  std::string why_not{};
};

/// The answers for one number of GPUs. N GPUs beat one when they train more samples per second. The answer
/// about an epoch's length compares whole runs instead, with start-up and loader restarts.
struct BreakEven {
  int gpus = 1;
  /// Speedup over one GPU as the scenario stands.
  double speedup = 0;
  bool strong_scaling = false;
  /// Batch per GPU under weak scaling, of all GPUs under strong scaling.
  BreakEvenValue batch;
  /// Factor on the network's width.
  BreakEvenValue width;
  /// Samples of the data set, in whole steps of all N GPUs.
  BreakEvenValue epoch_samples;
  /// The link that bounds the N GPUs, "the network (hdr)"; empty when no link does.
  std::string link;
  /// Bandwidth of one such link at present, in bytes/s.
  double link_bytes_per_s = 0;
  /// Factor on links of that kind: from where on N GPUs beat one, or down to where they still do.
  BreakEvenValue bandwidth;
  /// Factor on these links from where on another number of GPUs is fastest.
  BreakEvenValue fastest;
  int fastest_now = 1, fastest_then = 1;
};

/// Bisects each quantity under the assumption that the answer changes once along it. `device` is the
/// scenario's device model, calibrated. Requires 2 <= gpus <= the cluster's size and a strategy that runs on
/// them. Most trials simulate two numbers of GPUs.
BreakEven find_break_even(const Scenario& scenario, const DeviceModel& device, int gpus);

/// Throws InputError when the questions cannot be asked of this number of GPUs.
void check_break_even(const Scenario& scenario, int gpus);

/// Returns the smallest number of [low, high] for which `holds`, under the assumption that it then holds up
/// to `high`; nothing when it fails at `high`. It calls `holds` about as often as high / low has bits.
std::optional<std::int64_t> first_holding(std::int64_t low, std::int64_t high,
                                          const std::function<bool(std::int64_t)>& holds);

}  // namespace foretrain
