// TensorFlow's reduction of gradients across replicas: packs are formed, summed over all GPUs, and split
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/step/step_launches.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

// The grouping of gradients into messages that are reduced across GPUs.

/// Gradients that are concatenated once all of them exist, and the messages in which the result is sent. A
/// pack of one gradient is not copied.
struct GradientPack {
  /// Indices into ExpandedModel::parameters.
  std::vector<std::uint32_t> parameters;
  std::vector<Bytes> messages;
  /// Returns whether the gradients are concatenated, which costs a copy before and after the sum.
  bool is_copied() const { return parameters.size() > 1; }
  /// Returns the bytes of all messages.
  Bytes size() const;
};

/// Returns the packs of NcclAllReduce and HierarchicalCopyAllReduce with `num_packs`. All gradients form one
/// tensor, cut into that many equal parts of whole elements, where the last part takes the remainder. With 0
/// every gradient is a pack of its own, in the order of arrival.
std::vector<GradientPack> packs_by_number(const ExpandedModel& model, int num_packs,
                                          std::int64_t element_bytes);

/// Returns the packs of CollectiveAllReduce with `bytes_per_pack`. Gradients come in the reverse order of
/// registration, and a pack is closed when it has grown beyond the limit, so tensors are never cut. With 0
/// there is one pack.
std::vector<GradientPack> packs_by_size(const ExpandedModel& model, Bytes bytes_per_pack,
                                        std::int64_t element_bytes);

/// The threads that issue the exchange of a process's replicas. Their calls are made for each of `gpus` GPUs.
struct ReplicaThreads {
  HostThread main, autograd;
  int gpus;
};

/// A function that sums one message over all replicas, after the work that the compute stream has so far. It
/// adds the tasks and returns the one at whose end the result exists. `message`: the message's number within
/// a step.
using SumOverReplicas = std::function<TaskId(Bytes size, std::size_t message)>;

/// The path of the gradients of one process's replicas through the packs (docs/models/replicated.md). A pack
/// is concatenated as soon as its gradients exist and the packs before it have gone. A single pack of all
/// gradients therefore cannot overlap with backward.
class GradientExchange {
 public:
  /// `halves`: the packs have 16 bits per element, and fp32 gradients are converted before the sum and back
  /// after it.
  GradientExchange(Process& process, const ReplicaThreads& threads, std::vector<GradientPack> packs,
                   SumOverReplicas sum, bool halves = false);

  /// Called on the autograd thread when the parameter's gradient was launched. Launches all packs that have
  /// become complete.
  void on_gradient(std::uint32_t parameter);
  /// Called on the main thread after backward. The sum of a pack ends an asynchronous operator, and only then
  /// does the host issue the kernels that split the pack.
  void after_backward();

  /// Returns the messages of one step in the order of launch.
  std::vector<Bytes> messages() const;
  /// Returns the memory besides the gradients: the concatenated packs.
  Bytes buffers() const;
  const std::vector<GradientPack>& packs() const { return packs_; }

 private:
  void launch(std::size_t pack);
  void take_apart(std::size_t pack);
  void reshape(const HostThread& thread, std::size_t tensors);
  void convert(const HostThread& thread, const GradientPack& pack);

  Process& process_;
  ReplicaThreads threads_;
  StepLaunches launches_;
  std::vector<GradientPack> packs_;
  SumOverReplicas sum_;
  /// Pack of each parameter.
  std::vector<std::size_t> pack_of_;
  /// Gradients that each pack still lacks.
  std::vector<std::size_t> missing_;
  /// The last message of each pack of this step.
  std::vector<TaskId> sums_;
  std::size_t messages_sent_ = 0;
  bool halves_;
  LabelId concat_label_, split_label_, convert_label_;
};

}  // namespace foretrain
