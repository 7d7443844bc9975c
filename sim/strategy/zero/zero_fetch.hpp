// When ZeRO stage 3 has parameters whole on a GPU: fetched and prefetched along the trace of an iteration,
// released after use.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/strategy/zero/zero.hpp"

namespace foretrain {

/// Layers in the order in which forward and then backward come to them, as the first iteration records it.
/// Layers stand for modules.
std::vector<std::uint32_t> fetch_trace(const ExpandedModel& model);

/// deepspeed/runtime/zero/partitioned_param_coordinator.py. Parameters of up to param_persistence_threshold
/// elements are never sharded.
class ZeroFetch {
 public:
  ZeroFetch(Process& process, const ZeroSettings& settings);

  /// A forward and backward pass begins: what is gathered from here on waits for what the compute stream has
  /// done so far.
  void begin_iteration();
  /// The pass comes to a layer: releases the one before, gathers what is missing, waits for it, gathers
  /// ahead.
  void enter(QueueId thread, std::uint32_t layer);
  /// The pass has left its last layer.
  void leave(QueueId thread);

  /// Elements that are whole all the time, of all parameters; and of others the most at any time.
  std::int64_t persistent() const { return persistent_; }
  std::int64_t most_live() const { return most_live_; }

 private:
  void measure_trace();
  void release(QueueId thread, std::uint32_t layer);
  bool is_reused(std::uint32_t layer) const;
  void gather(QueueId thread, const std::vector<std::uint32_t>& layers);
  void wait_for(QueueId thread, std::uint32_t layer);
  void prefetch(QueueId thread);

  Process& process_;
  ZeroSettings settings_;
  const ZeroOptions& options_;
  std::vector<std::uint32_t> trace_;
  std::vector<std::size_t> next_visit_;        ///< per place in the trace: the next one of the same layer
  std::vector<std::int64_t> elements_before_;  ///< per place in the trace: sum of those before
  std::vector<std::int64_t> elements_;         ///< per layer, without persistent ones
  std::vector<std::int64_t> parameters_;       ///< per layer: how many of them
  QueueId stream_;                             ///< allgather_stream
  LabelId gather_label_, copy_label_;
  std::int64_t persistent_ = 0, live_ = 0, most_live_ = 0;
  std::size_t step_ = 0;           ///< place in the trace
  std::size_t queue_ = 0;          ///< first place that no prefetch has looked at
  std::uint32_t current_ = kNone;  ///< layer
  std::vector<TaskId> gathered_;   ///< per layer: the task after which it is whole, kNone while sharded
  std::vector<bool> waited_;       ///< per layer: the compute stream waits for it already
  std::vector<std::size_t>
      wanted_;  ///< per layer: one more than the last place of the trace it was gathered for
  TaskId iteration_start_ = kNone;
  std::deque<TaskId> fetches_;  ///< waited for, oldest first
};

}  // namespace foretrain
