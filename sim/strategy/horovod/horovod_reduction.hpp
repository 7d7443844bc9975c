// How Horovod's background thread reduces one message: one NCCL call, or two levels of the machine.
#pragma once

#include <span>

#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

class HorovodReduction {
 public:
  /// `thread`: the background thread.
  HorovodReduction(Process& process, const HorovodSettings& settings, QueueId thread);

  /// Launches it on the NCCL stream behind `after`; returns its last task there.
  TaskId reduce(Bytes size, LabelId label, std::span<const TaskId> after);
  /// How long the thread is kept once the data are there; on an idle machine.
  Time held(Bytes size) const;
  /// Whether the thread waits for the GPU, so that it needs the data before it can go on.
  bool blocks() const { return settings_.levels == HorovodLevels::hierarchical; }

 private:
  TaskId over_cpus(Bytes size, std::span<const TaskId> after);
  TaskId on_torus(Bytes size, LabelId label, std::span<const TaskId> after);
  TaskId all_reduce_between_nodes(Bytes share);
  TaskId copy_by_host(const Route& route, Bytes share, LabelId label);
  Route between_gpu_and_host() const;
  Time latency_between_nodes(Bytes share) const;
  double sent_per_byte() const;

  Process& process_;
  const HorovodSettings& settings_;
  QueueId thread_;
  int nodes_;
  PatternId between_nodes_ = kNone;
  ByteRate slowest_between_nodes_{};
  Time message_latency_{};
  LabelId scatter_label_, gather_label_, copy_label_, mpi_label_;
};

}  // namespace foretrain
