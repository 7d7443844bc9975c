// Offloaded activations: copies to host memory during the forward pass, and copies back during backward.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/process/process.hpp"

namespace foretrain {

/// Issues the copies that the network's offload plan requests (ExpandedModel::offloaded) around its
/// operators. All ranks of a node copy at the same time and share its PCIe. Activation checkpoints are copied
/// on the compute stream. Saved tensors have a stream of their own, and the compute stream waits only for a
/// copy that is late. Operators that belong to no list of the network are ignored.
class ActivationCopies {
 public:
  explicit ActivationCopies(Process& process);

  /// Returns whether nothing is offloaded, or copies were stopped.
  bool is_none() const { return !is_on_; }
  /// Ends all copies. An evaluation keeps nothing for backward.
  void stop() { is_on_ = false; }
  /// Called before a forward operator of the network is issued. Makes the compute stream wait for copies
  /// whose GPU memory the operator takes over. The first operator of the list begins a new pass.
  void before(const Operator& op);
  /// Called after the operator was issued. Starts the copies of the tensors that it produced last.
  void behind(const Operator& op);
  /// Called before a backward step of the network. Starts the copies back that are due, then waits for the
  /// tensors that this step reads.
  void before(const BackwardStep& step);

 private:
  /// Returns whether copies run on a stream of their own, concurrently with kernels.
  bool overlaps() const { return plan_.how == ActivationOffload::saved_tensors; }
  void copy_to_host(std::uint32_t tensor);
  void copy_back(std::uint32_t tensor);
  /// Returns the size of an offloaded tensor for the batch and the precision of the workload.
  Bytes bytes_of(std::uint32_t tensor) const;

  Process& process_;
  const ExpandedModel& model_;
  const OffloadedActivations& plan_;
  bool is_on_;
  QueueId stream_ = kNone;
  LabelId label_ = kNone;
  /// Tensor numbers in the order in which backward needs them.
  std::vector<std::uint32_t> back_;
  /// The latest copy of each tensor in the pass that runs, by tensor.
  std::vector<TaskId> copies_;
  /// Progress of a pass, as indices: copies to the host that were started and waited for (in
  /// `plan_.tensors`), then copies back that were started and waited for (in `back_`).
  std::size_t copied_ = 0, waited_ = 0, called_ = 0, needed_ = 0;
};

}  // namespace foretrain
