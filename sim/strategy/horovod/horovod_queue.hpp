// What the framework does for Horovod in a backward pass: it hands over each gradient, compressed if asked
// for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/horovod/horovod_sparse.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// A gradient in the queue of the background thread.
struct Enqueued {
  std::uint32_t parameter;
  TaskId call;   ///< host task at whose end it is in the queue
  TaskId ready;  ///< kernel at whose end its data are there
};

/// PyTorch: a Python hook per gradient. TensorFlow: an operator of the graph, which runs when the executor
/// has launched the gradient's kernel; in XLA, and behind an eager tape, all gradients come out together
/// behind backward's last kernel.
class GradientQueue {
 public:
  GradientQueue(Process& process, const HorovodSettings& settings);
  /// A backward pass whose gradients are only added up.
  void count_down();
  void on_gradient(std::uint32_t parameter);
  void end_backward();
  /// What was handed over since the last call, in that order.
  std::vector<Enqueued> take() { return std::exchange(enqueued_, {}); }

 private:
  void enqueue(QueueId thread, std::uint32_t parameter, TaskId ready);
  Time call_cost() const;

  Process& process_;
  const HorovodSettings& settings_;
  const std::vector<std::optional<SparseGradient>> sparse_;  ///< never compressed
  const Framework& framework_;
  bool is_tape_;
  LabelId compress_label_, hook_label_;
  std::vector<std::uint32_t> held_back_;
  std::vector<Enqueued> enqueued_;
};

}  // namespace foretrain
