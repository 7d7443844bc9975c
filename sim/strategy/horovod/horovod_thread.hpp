// Horovod's background thread in the graph: its cycles, what it launches on its stream, and the main thread's
// wait for it.
#pragma once

#include <vector>

#include "sim/strategy/horovod/horovod_cycles.hpp"
#include "sim/strategy/horovod/horovod_gathering.hpp"
#include "sim/strategy/horovod/horovod_queue.hpp"
#include "sim/strategy/horovod/horovod_reduction.hpp"
#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

class HorovodThread {
 public:
  HorovodThread(Process& process, const HorovodSettings& settings);

  const HorovodGathering& gathering() const { return gathering_; }
  /// Durations of what the thread does, for the clock. Refers to this object.
  CycleRules rules() const;
  /// One step's cycles, each `Cycle::start` after the end of `origin`, on the gradients that were handed
  /// over.
  void add_cycles(const std::vector<Cycle>& cycles, TaskId origin, const std::vector<Enqueued>& gradients);
  /// optimizer.step(): the main thread waits until every reduction has ended on the GPU, then takes the
  /// gradients back.
  void synchronize();

 private:
  struct Done {
    TaskId last;
    std::vector<std::uint32_t> parameters;
  };
  void perform(const FusedMessage& message, LabelId label);
  TaskId reduce(const FusedMessage& message, LabelId label, TaskId ready);
  bool is_sparse(const FusedMessage& message) const {
    return gathering_.is_sparse(message.parameters.front());
  }
  TaskId copy(const FusedMessage& message, LabelId label, std::span<const TaskId> after);
  void take_back(const Done& done);
  Time launch_time(const FusedMessage& message) const;
  std::size_t copies_of(const FusedMessage& message) const;

  Process& process_;
  const HorovodSettings& settings_;
  const Negotiation negotiation_;
  QueueId thread_;
  HorovodReduction reduction_;
  HorovodGathering gathering_;
  std::vector<Enqueued> handed_over_;  ///< by parameter
  std::vector<Done> done_;
  LabelId cycle_label_, launch_label_, in_label_, out_label_, take_back_label_, decompress_label_;
};

}  // namespace foretrain
