// DeepSpeed's step(): overflow, norm, the optimizer on the own partition in fp32, then weights for everybody.
#pragma once

#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/strategy/zero/zero.hpp"

namespace foretrain {

/// Bytes that the host's memory moves in a second for an optimizer that runs there, all cores of a node
/// together (recalled: CPU Adam, 28 bytes a parameter, takes 0.1 to 0.2 s for 10^9 parameters;
/// docs/models/zero.md).
inline constexpr double kHostOptimizerRate = 200e9;

class ZeroUpdate {
 public:
  /// `gathered_later`: elements of weights that the next forward pass gathers by itself (stage 3); all others
  /// are gathered here.
  ZeroUpdate(Process& process, const ZeroSettings& settings, std::int64_t gathered_later);

  /// `gradients`: when they have arrived in host memory (offload). Returns the last kernel.
  TaskId apply(TaskId gradients);

 private:
  void check_overflow();
  void norm();
  void sum(Bytes size, LabelId label);
  TaskId update_on_gpu();
  TaskId update_on_host(TaskId gradients);
  void gather_weights();
  TaskId kernel(std::int64_t bytes, LabelId label);

  Process& process_;
  const Workload& workload_;
  ZeroSettings settings_;
  std::int64_t own_;                ///< elements of the partition
  std::int64_t gathered_;           ///< elements of weights to be gathered
  std::vector<std::int64_t> mine_;  ///< sizes of the gradients, or parts of them, in the partition
  LabelId check_label_, norm_label_, optimizer_label_, weights_label_, gather_label_;
};

/// Sizes of the parameters, or parts of them, in the partition that has most of them: all laid end to end and
/// cut in equal pieces (stages 1 and 2), or every one cut in equal pieces (stage 3).
std::vector<std::int64_t> partition_tensors(const ExpandedModel& model, const ZeroSettings& settings);

}  // namespace foretrain
