// TensorFlow's reduction of gradients across replicas: packs are formed, summed over all GPUs, and taken
// apart again.
#pragma once

#include <functional>
#include <vector>

#include "sim/strategy/replicas/gradient_packs.hpp"
#include "sim/strategy/step/step_launches.hpp"

namespace foretrain {

/// Sums one message over all replicas, after what the compute stream has so far: adds the tasks, returns the
/// one whose end is the result's. `message`: its number within a step.
using SumOverReplicas = std::function<TaskId(Bytes size, std::size_t message)>;

/// The gradients of one process's replicas on their way through the packs (docs/models/mirrored.md). A pack
/// is concatenated as soon as its gradients are there and the packs before it have gone, so one of all
/// gradients cannot overlap backward.
class GradientExchange {
 public:
  /// `halves`: the packs are in 16 bit, into which fp32 gradients are converted before and back after.
  GradientExchange(Process& process, std::vector<GradientPack> packs, SumOverReplicas sum,
                   bool halves = false);

  /// On the thread that issues backward: the parameter's gradient has been launched.
  void on_gradient(std::uint32_t parameter);
  /// On the main thread. The sum of a pack ends an asynchronous operator: only then does the host issue what
  /// takes the pack apart.
  void after_backward();

  /// Of one step, in the order of launch.
  std::vector<Bytes> messages() const;
  /// Memory besides the gradients: the concatenated packs.
  Bytes buffers() const;
  const std::vector<GradientPack>& packs() const { return packs_; }

 private:
  void launch(std::size_t pack);
  void take_apart(std::size_t pack);
  void reshape(QueueId thread, std::size_t tensors);
  void convert(QueueId thread, const GradientPack& pack);

  Process& process_;
  StepLaunches launches_;
  std::vector<GradientPack> packs_;
  SumOverReplicas sum_;
  std::vector<std::size_t> pack_of_;  ///< per parameter
  std::vector<std::size_t> missing_;  ///< gradients per pack
  std::vector<TaskId> sums_;          ///< of this step, the last message of each pack
  std::size_t messages_sent_ = 0;
  bool halves_;
  LabelId concat_label_, split_label_, convert_label_;
};

}  // namespace foretrain
