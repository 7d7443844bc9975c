// The clock of Horovod's background thread: which gradients fall into which cycle, and when each cycle
// begins.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/horovod/horovod_fusion.hpp"

namespace foretrain {

/// A gradient on the timeline of one step. Times count from one moment of the step, the same for all.
struct Arrival {
  FusionTensor tensor;
  Time enqueued{};  ///< the framework has handed it to Horovod
  Time ready{};     ///< its kernel has ended
};

/// A cycle that finds gradients in the queue.
struct Cycle {
  Time start{};
  Time negotiation{};
  std::vector<FusedMessage> messages;
};

struct CycleRules {
  Time cycle_time{};  ///< from start to start, unless a cycle's own work takes longer
  Bytes threshold{};
  bool padded = true;
  bool waits_for_data =
      false;  ///< the thread waits until a message's gradients have been computed before it launches anything
  std::function<Time(std::size_t)> negotiation;     ///< of so many tensors
  std::function<Time(const FusedMessage&)> launch;  ///< how long a message keeps the thread
};

/// The cycles of a step when the first one begins at `first`. Requires arrivals in the order of `enqueued`.
std::vector<Cycle> run_cycles(std::span<const Arrival> arrivals, const CycleRules& rules, Time first);

/// The clock runs freely, so a step meets it in any phase. These are the cycles of the phase, out of 32
/// evenly spaced ones, whose last launch is nearest to the mean over all: the last gradient waits about half
/// a cycle.
std::vector<Cycle> typical_cycles(std::span<const Arrival> arrivals, const CycleRules& rules);

}  // namespace foretrain
