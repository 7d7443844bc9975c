// How the GPUs of one node add up their gradients by copies, and get the result back: in host memory, or each
// tensor on one of the GPUs.
#pragma once

#include <vector>

#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// The first node of the job, which stands for all. Every method adds one task to the given queue, for the
/// copies or sums of all its GPUs.
class NodeSums {
 public:
  /// `gpu_of`: per parameter the GPU where it is summed; empty: all in host memory. Keeps the process.
  NodeSums(Process& process, std::vector<int> gpu_of);

  int gpus() const { return static_cast<int>(places_.size()); }
  bool on_gpu() const { return !gpu_of_.empty(); }

  /// Every GPU's `bytes` to the place of the parameter; from there to every GPU. One copy at a time per copy
  /// engine.
  TaskId gather(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                std::span<const Dependency> after);
  TaskId scatter(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                 std::span<const Dependency> after);
  /// Between host memory and the GPU of the parameter; requires on_gpu().
  TaskId to_host(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label);
  TaskId to_gpu(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label);
  /// Adds up the gradients of all GPUs where they are, `more` bytes of memory traffic besides (the
  /// optimizer).
  TaskId add(QueueId queue, std::uint32_t parameter, Bytes more, LabelId label, Account account);

 private:
  /// A place: its copies in and out, and who computes there.
  struct Place {
    PatternId gather = kNone, scatter = kNone, to_host = kNone, to_gpu = kNone;
    PoolId out = kNone;      ///< copies from here
    PoolId compute = kNone;  ///< sums here
  };
  Place make_place(int gpu);
  const Place& place_of(std::uint32_t parameter) const;
  Route route(int from_gpu, int to_gpu) const;
  PatternId pattern(std::vector<PatternFlow> flows);
  TaskId copy(QueueId queue, PatternId pattern, PoolId pool, Bytes bytes, LabelId label,
              std::span<const Dependency> after);

  Process& process_;
  std::vector<int> gpu_of_;
  std::vector<GpuPlace> places_;  ///< of the GPUs of the node
  std::vector<Place> homes_;      ///< one per GPU, or host memory alone
  PoolId gradients_out_;          ///< copies of gradients from one GPU
  Time latency_{};
};

}  // namespace foretrain
