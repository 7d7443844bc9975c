// The loop of the background thread, with times instead of a clock: start, take the tensors that are there,
// negotiate, launch, and sleep for the rest of the cycle.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "sim/strategy/horovod/horovod_thread.hpp"

namespace foretrain {

namespace {

constexpr int kPhases = 32;
constexpr Time kShortestPeriod = Time{1'000'000};  ///< 1 us: with a cycle time of 0 the thread spins

/// Returns the time between two cycles of an idle thread.
Time idle_period(const CycleRules& rules) {
  return std::max({rules.cycle_time, rules.negotiation(0), kShortestPeriod});
}

using ReadyTimes = std::unordered_map<std::uint32_t, Time>;  ///< by parameter

// A parameter may arrive more than once; its latest kernel counts.
ReadyTimes ready_times(std::span<const Arrival> arrivals) {
  ReadyTimes times;
  for (const Arrival& arrival : arrivals) {
    Time& ready = times[arrival.tensor.parameter];
    ready = std::max(ready, arrival.ready);
  }
  return times;
}

/// Returns the time at which all gradients of a message have been computed.
Time ready_time(const FusedMessage& message, const ReadyTimes& times) {
  Time ready{};
  for (const std::uint32_t parameter : message.parameters) ready = std::max(ready, times.at(parameter));
  return ready;
}

/// Returns the time at which the thread has launched the cycle's messages.
Time end_of(const Cycle& cycle, std::span<const Arrival> popped, const CycleRules& rules) {
  Time now = cycle.start + cycle.negotiation;
  const ReadyTimes times = rules.waits_for_data ? ready_times(popped) : ReadyTimes{};
  for (const FusedMessage& message : cycle.messages) {
    if (rules.waits_for_data) now = std::max(now, ready_time(message, times));
    now += rules.launch(message);
  }
  return now;
}

/// Runs the cycles and passes each to `take`. Returns the time at which the last message has been launched.
template <class Take>
Time run(std::span<const Arrival> arrivals, const CycleRules& rules, Time first, Take take) {
  const Time period = idle_period(rules);
  Time now = first, last_launch{};
  std::vector<FusionTensor> tensors;
  while (!arrivals.empty()) {
    // An empty queue is checked in every period; the thread finds the next tensor in the first check after
    // its arrival.
    const Time wait = arrivals.front().enqueued - now;
    if (wait > Time::zero()) now += period * ((wait.count() + period.count() - 1) / period.count());
    // The cycle takes every tensor that has arrived by now.
    const auto late =
        std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.enqueued > now; });
    const auto popped = arrivals.first(static_cast<std::size_t>(late - arrivals.begin()));
    tensors.clear();
    for (const Arrival& arrival : popped) tensors.push_back(arrival.tensor);
    Cycle cycle{now, rules.negotiation(popped.size()), fuse(tensors, rules.threshold, rules.padded)};
    last_launch = end_of(cycle, popped, rules);
    now = std::max(now + rules.cycle_time, last_launch);
    arrivals = arrivals.subspan(popped.size());
    take(std::move(cycle));
  }
  return last_launch;
}

}  // namespace

std::vector<Cycle> run_cycles(std::span<const Arrival> arrivals, const CycleRules& rules, Time first) {
  std::vector<Cycle> cycles;
  run(arrivals, rules, first, [&](Cycle cycle) { cycles.push_back(std::move(cycle)); });
  return cycles;
}

// The cost is that of 33 runs over all arrivals.
std::vector<Cycle> typical_cycles(std::span<const Arrival> arrivals, const CycleRules& rules) {
  // The phases are the midpoints of 32 equal parts of the period.
  const auto begin_of = [&](int phase) { return idle_period(rules) * (2 * phase + 1) / (2 * kPhases); };
  std::array<Time, kPhases> launches;
  Time mean{};
  for (int i = 0; i < kPhases; ++i) {
    // The end of each phase is all that is kept: all their cycles would be many times as large as the step
    // itself.
    launches[static_cast<std::size_t>(i)] = run(arrivals, rules, begin_of(i), [](const Cycle&) {});
    mean += launches[static_cast<std::size_t>(i)] / kPhases;
  }
  const auto distance = [&](Time launch) { return std::abs((launch - mean).count()); };
  const auto nearest = std::min_element(launches.begin(), launches.end(),
                                        [&](Time a, Time b) { return distance(a) < distance(b); });
  return run_cycles(arrivals, rules, begin_of(static_cast<int>(nearest - launches.begin())));
}

}  // namespace foretrain
