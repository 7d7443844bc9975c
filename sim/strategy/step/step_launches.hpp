// Kernels of a step as its framework issues them: one by one, beside a graph's own nodes, or captured in one
// launch for all.
#pragma once

#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/workload/framework_profile.hpp"
#include "sim/workload/lowering/graph_nodes.hpp"

namespace foretrain {

/// Prices host calls by the framework's way of running (docs/models/host_time.md) and hands them to a
/// process.
class StepLaunches {
 public:
  explicit StepLaunches(Process& process);

  /// What precedes the first kernel of a step and of its backward pass: the call of a graph, guards of
  /// compiled code, the engine.
  void begin_forward(const HostThread& thread);
  void begin_backward(const HostThread& thread);

  /// `op` must be one of the workload's network.
  void operator_call(const HostThread& thread, const Operator& op, LabelId label) {
    operator_call(thread, op, label, workload_.batch_per_gpu);
  }
  /// The same on `batch` samples.
  void operator_call(const HostThread& thread, const Operator& op, LabelId label, std::int64_t batch);
  /// A kernel that moves `bytes`; `reference` is its host cost on the reference CPU when it is a call of its
  /// own, without the launch.
  TaskId kernel(const HostThread& thread, Bytes bytes, Time reference, Account account, LabelId label) {
    return kernels(thread, {.bytes = bytes, .host = reference}, account, label);
  }
  /// As many of them as the launch counts, as one task.
  TaskId kernels(const HostThread& thread, const OptimizerLaunch& launch, Account account, LabelId label);
  /// Nodes beside the main chain of a graph; nothing without a graph executor.
  void nodes(const HostThread& thread, const GraphNodes& nodes, Account account, LabelId label);

  bool is_graph() const { return foretrain::is_graph(framework_); }
  const FrameworkProfile& profile() const { return profile_of(framework_); }

 private:
  void launch_captured_graph(const HostThread& thread);
  Time own_cost() const;
  struct Price {
    std::int64_t batch = -1;
    Time host{}, kernel{};
  };
  const Price& price_of(const Operator& op, std::int64_t batch);

  Process& process_;
  const Workload& workload_;
  const Framework& framework_;
  LabelId inputs_label_;
  std::vector<Price> prices_;  ///< by number of OperatorCosts: every step runs the same operators
};

}  // namespace foretrain
