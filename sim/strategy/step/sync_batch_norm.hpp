// SyncBatchNorm: statistics of a batch over all ranks. Each layer needs two small collectives per step on the
// critical path.
#pragma once

#include "sim/strategy/process/process_group.hpp"

namespace foretrain {

/// Issues the collectives of torch.nn.SyncBatchNorm before the operator of each layer. Forward: an all-gather
/// of 2 C + 1 floats per rank for C channels; then the host reads three times which ranks had data. Backward:
/// an all-reduce of 2 C floats (torch/nn/modules/_functions.py). With one rank it is a plain BatchNorm and
/// nothing is issued.
class SyncBatchNorm {
 public:
  SyncBatchNorm(Process& process, ProcessGroup& group);

  /// Called before every operator of a step, on the thread that issues it. Operators other than batch norms
  /// are ignored.
  void before(const HostThread& thread, const Operator& op);

 private:
  void gather_statistics(const HostThread& thread, std::int64_t channels);
  void reduce_gradients(const HostThread& thread, std::int64_t channels);
  void small_kernel(const HostThread& thread);
  void exchange(const HostThread& thread, CollectiveOp op, std::int64_t floats);

  Process& process_;
  ProcessGroup& group_;
  /// Channels by layer; 0 for layers without batch norm.
  std::vector<std::int64_t> channels_;
  std::int64_t ranks_;
  LabelId label_;
};

}  // namespace foretrain
