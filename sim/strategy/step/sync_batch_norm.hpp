// SyncBatchNorm: statistics of a batch over all ranks, two small collectives per layer and step on the
// critical path.
#pragma once

#include "sim/strategy/process/process_group.hpp"

namespace foretrain {

/// Goes before the operators of torch.nn.SyncBatchNorm. Forward: an all-gather of 2 C + 1 floats per rank for
/// C channels, then the host reads which ranks had data, three times; backward: an all-reduce of 2 C floats
/// (torch/nn/modules/_functions.py). One rank: plain BatchNorm.
class SyncBatchNorm {
 public:
  SyncBatchNorm(Process& process, ProcessGroup& group);

  /// To be called before every operator of a step on the thread that issues it; others than batch norms pass.
  void before(const HostThread& thread, const Operator& op);

 private:
  void gather_statistics(const HostThread& thread, std::int64_t channels);
  void reduce_gradients(const HostThread& thread, std::int64_t channels);
  void small_kernel(const HostThread& thread);
  void exchange(const HostThread& thread, CollectiveOp op, std::int64_t floats);

  Process& process_;
  ProcessGroup& group_;
  std::vector<std::int64_t> channels_;  ///< per layer; 0: no batch norm
  std::int64_t ranks_;
  LabelId label_;
};

}  // namespace foretrain
