// How Horovod brings sparse gradients together: every rank gets the rows of all ranks, by NCCL or, before
// 0.20, by MPI in host memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/horovod/horovod_sparse.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

class HorovodGathering {
 public:
  /// `thread`: the background thread.
  HorovodGathering(Process& process, const HorovodSettings& settings, QueueId thread);

  bool is_sparse(std::uint32_t parameter) const { return gradients_[parameter].has_value(); }
  /// Rows of all ranks, with their indices.
  Bytes gathered(std::uint32_t parameter) const;
  /// MPI: the gradient is handed over only when TensorFlow has copied it into host memory; how long after its
  /// kernel.
  Time hand_over_delay(std::uint32_t parameter) const;
  /// Behind the kernel `ready`; returns the task at whose end the rows of all ranks are on the GPU.
  TaskId gather(std::uint32_t parameter, TaskId ready);
  /// How long the thread is kept.
  Time held(std::uint32_t parameter) const;
  /// The other ranks' rows are added to the table's gradient, on the compute stream; backward has done that
  /// with the rank's own.
  void add_rows(QueueId thread, std::uint32_t parameter);

 private:
  enum class CopyTo { host, gpu };
  struct Sending {
    QueueId queue;
    Time first;  ///< before the flows start
    PatternId pattern;
    Bytes traffic;
    LabelId label;
  };
  TaskId send(const Sending& what, TaskId after, Time wake);
  std::vector<PatternFlow> copies_of_the_node(CopyTo to) const;
  TaskId over_hosts(Bytes own, TaskId ready);
  Time alone(Bytes own) const;
  Time beside_links(Bytes own) const;
  Route route_of(const GpuPlace& place, CopyTo to) const;

  Process& process_;
  const HorovodSettings& settings_;
  const std::vector<std::optional<SparseGradient>> gradients_;
  const int ranks_;
  QueueId thread_, to_host_ = kNone, to_gpu_ = kNone;
  PatternId ring_ = kNone, to_host_pattern_ = kNone, to_gpu_pattern_ = kNone;
  ByteRate copy_rate_{}, slowest_link_{};
  Time message_latency_{};
  LabelId values_label_, indices_label_, copy_label_, mpi_label_, add_label_;
};

}  // namespace foretrain
