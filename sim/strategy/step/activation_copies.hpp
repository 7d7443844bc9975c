// Copies of activations to host memory in the forward pass, and back in the backward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// Issues the copies that the workload's network asks for (ExpandedModel::offloaded) around its operators.
/// All ranks of a node share its PCIe. Checkpoints are copied on the compute stream; saved tensors on a
/// stream of their own, for which the compute stream waits when a copy is late. Operators of other lists are
/// ignored.
class ActivationCopies {
 public:
  explicit ActivationCopies(Process& process);

  bool is_none() const { return !is_on_; }
  /// An evaluation keeps nothing for backward.
  void stop() { is_on_ = false; }
  /// Around a forward operator of the network, and before a backward step of it.
  void before(const Operator& op);
  void behind(const Operator& op);
  void before(const BackwardStep& step);

 private:
  bool overlaps() const { return plan_.how == ActivationOffload::saved_tensors; }
  void copy_to_host(std::uint32_t tensor);
  void copy_back(std::uint32_t tensor);
  Bytes bytes_of(std::uint32_t tensor) const;

  Process& process_;
  const ExpandedModel& model_;
  const OffloadedActivations& plan_;
  bool is_on_;
  QueueId stream_ = kNone;
  LabelId label_ = kNone;
  std::vector<std::uint32_t> back_;  ///< tensors in the order in which backward needs them
  std::vector<TaskId> copies_;       ///< by tensor, of the pass that runs
  std::size_t copied_ = 0, waited_ = 0, called_ = 0, needed_ = 0;
};

}  // namespace foretrain
