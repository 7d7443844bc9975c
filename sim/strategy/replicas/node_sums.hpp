// Sums of gradients among the GPUs of one node by copies: in host memory, or each tensor on one of the GPUs.
#pragma once

#include <vector>

#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// Sums of the first node of the job, which stands for all nodes. Every method adds one task to the given
/// queue, for the copies or sums of all GPUs of the node.
class NodeSums {
 public:
  /// `gpu_of`: for each parameter the GPU on which it is summed; empty: all in host memory. The process must
  /// outlive this object.
  NodeSums(Process& process, std::vector<int> gpu_of);

  int gpus() const { return static_cast<int>(places_.size()); }
  /// Returns whether sums are made on GPUs.
  bool on_gpu() const { return !gpu_of_.empty(); }

  /// Copy every GPU's `bytes` to the place of the parameter, and from there to every GPU. Each copy engine
  /// makes one copy at a time.
  TaskId gather(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                std::span<const Dependency> after);
  TaskId scatter(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                 std::span<const Dependency> after);
  /// Copy between host memory and the GPU of the parameter. Require on_gpu().
  TaskId to_host(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label);
  TaskId to_gpu(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label);
  /// Adds up the gradients of all GPUs at their place. `more`: bytes of further memory traffic, that of the
  /// optimizer.
  TaskId add(QueueId queue, std::uint32_t parameter, Bytes more, LabelId label, Account account);

 private:
  /// A place of sums: its copies in and out, and the unit that computes there.
  struct Place {
    PatternId gather = kNone, scatter = kNone, to_host = kNone, to_gpu = kNone;
    /// Copies that leave this place.
    PoolId out = kNone;
    /// Sums at this place.
    PoolId compute = kNone;
  };
  Place make_place(int gpu);
  const Place& place_of(std::uint32_t parameter) const;
  Route route(int from_gpu, int to_gpu) const;
  PatternId pattern(std::vector<PatternFlow> flows);
  TaskId copy(QueueId queue, PatternId pattern, PoolId pool, Bytes bytes, LabelId label,
              std::span<const Dependency> after);

  Process& process_;
  std::vector<int> gpu_of_;
  /// The GPUs of the node.
  std::vector<GpuPlace> places_;
  /// One place per GPU, or host memory alone.
  std::vector<Place> homes_;
  /// Copies of gradients that leave a GPU.
  PoolId gradients_out_;
  /// Largest latency of all routes; every copy is charged it.
  Time latency_{};
};

}  // namespace foretrain
