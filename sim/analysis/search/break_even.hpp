// The inverse questions: how large batch, network or epoch must be for N GPUs to beat one, and how fast the
// link that bounds them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Where an answer changes along one quantity.
struct BreakEvenValue {
  double now = 0;              ///< the scenario's own
  bool beats_now = false;      ///< N GPUs beat one already
  std::optional<double> at{};  ///< where it changes, as far as was looked: the smallest that beats one GPU
  double limit = 0;            ///< how far that was
  bool is_upper = false;       ///< less of it helps: `at` is the largest that beats one GPU
  bool fits = true;            ///< into the GPU's memory there
  std::string why_not{};       ///< why there is no answer; the rest is then empty
};

/// Answers for one number of GPUs. N GPUs beat one when they train more samples per second; an epoch's length
/// decides by the time of the whole run, with its start-up and loader restarts.
struct BreakEven {
  int gpus = 1;
  double speedup = 0;  ///< over one GPU, as the scenario stands
  bool strong_scaling = false;
  BreakEvenValue batch;          ///< per GPU in weak scaling, of all in strong
  BreakEvenValue width;          ///< the network's, as a factor
  BreakEvenValue epoch_samples;  ///< of the data set: whole steps of all N GPUs
  std::string link;              ///< what bounds the N GPUs: "the network (hdr)"; empty when no link does
  double link_bytes_per_s = 0;   ///< of one such link now
  /// Of links of that kind, as a factor: from where on N GPUs beat one, or down to where they do
  BreakEvenValue bandwidth;
  BreakEvenValue fastest;  ///< as a factor: from where on another number of GPUs is fastest
  int fastest_now = 1, fastest_then = 1;
};

/// Bisects each quantity as if the answer changed once along it. `device`: of the scenario, with its anchor.
/// Requires 2 <= gpus <= the cluster's size and a strategy that runs on them.
BreakEven find_break_even(const Scenario& scenario, const DeviceModel& device, int gpus);

/// Throws InputError when the question cannot be asked of so many GPUs.
void check_break_even(const Scenario& scenario, int gpus);

/// The smallest number of [low, high] for which `holds`, which stays so from there on; nothing when it does
/// not even at `high`. Asks about as often as the number of bits of high / low.
std::optional<std::int64_t> first_holding(std::int64_t low, std::int64_t high,
                                          const std::function<bool(std::int64_t)>& holds);

}  // namespace foretrain
