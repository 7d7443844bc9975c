// TensorFlow's reduction of gradients across replicas: packs are formed, summed over all GPUs, and taken
// apart again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/step/step_launches.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

// How TensorFlow groups gradients into the messages that are reduced across GPUs.

/// Gradients that are concatenated once all of them are there, and the messages the result is sent in. One
/// gradient alone is not copied.
struct GradientPack {
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters
  std::vector<Bytes> messages;
  bool is_copied() const { return parameters.size() > 1; }
  Bytes size() const;
};

/// `num_packs` of NcclAllReduce and HierarchicalCopyAllReduce: all gradients in one tensor, cut into so many
/// equal parts of whole elements, of which the last takes the rest; 0: every gradient by itself, in the order
/// of arrival.
std::vector<GradientPack> packs_by_number(const ExpandedModel& model, int num_packs,
                                          std::int64_t element_bytes);

/// `bytes_per_pack` of CollectiveAllReduce: gradients against registration order; a pack is closed when it
/// has grown beyond the limit, so tensors are never cut; 0: one pack.
std::vector<GradientPack> packs_by_size(const ExpandedModel& model, Bytes bytes_per_pack,
                                        std::int64_t element_bytes);

/// Who issues the exchange of a process's replicas: threads whose calls are made for each of `gpus` GPUs.
struct ReplicaThreads {
  HostThread main, autograd;
  int gpus;
};

/// Sums one message over all replicas, after what the compute stream has so far: adds the tasks, returns the
/// one whose end is the result's. `message`: its number within a step.
using SumOverReplicas = std::function<TaskId(Bytes size, std::size_t message)>;

/// The gradients of one process's replicas on their way through the packs (docs/models/mirrored.md). A pack
/// is concatenated as soon as its gradients are there and the packs before it have gone, so one of all
/// gradients cannot overlap backward.
class GradientExchange {
 public:
  /// `halves`: the packs are in 16 bit, into which fp32 gradients are converted before and back after.
  GradientExchange(Process& process, const ReplicaThreads& threads, std::vector<GradientPack> packs,
                   SumOverReplicas sum, bool halves = false);

  /// On the autograd thread: the parameter's gradient has been launched.
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
  void reshape(const HostThread& thread, std::size_t tensors);
  void convert(const HostThread& thread, const GradientPack& pack);

  Process& process_;
  ReplicaThreads threads_;
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
