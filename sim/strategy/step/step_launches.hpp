// Kernels of a step as the framework issues them: one by one, as nodes of a graph executor, or captured in
// one launch for all (CUDA graphs).
#pragma once

#include <vector>

#include "sim/strategy/process/process.hpp"
#include "sim/workload/framework_profile.hpp"
#include "sim/workload/lowering/graph_nodes.hpp"

namespace foretrain {

/// Computes the host cost of calls for the framework's execution mode (docs/models/host.md) and issues
/// them on a process. Holds references to the process and its request, which must outlive it.
class StepLaunches {
 public:
  explicit StepLaunches(Process& process);

  /// Issues the host work that comes before the first kernel of a forward or backward pass: the call of a
  /// graph, the guards of compiled code, or the start of the autograd engine.
  void begin_forward(const HostThread& thread);
  void begin_backward(const HostThread& thread);

  /// Issues one operator: its host call and its kernel. `op` must be an operator of the workload's network.
  void operator_call(const HostThread& thread, const Operator& op, LabelId label) {
    operator_call(thread, op, label, workload_.batch_per_gpu);
  }
  /// As above, for `batch` samples instead of the workload's batch.
  void operator_call(const HostThread& thread, const Operator& op, LabelId label, std::int64_t batch);
  /// Issues a kernel that moves `bytes` and returns it. `reference` is the host cost on the reference CPU of
  /// a separate call, without the launch. Frameworks that own every kernel replace that cost with their own.
  TaskId kernel(const HostThread& thread, Bytes bytes, Time reference, Account account, LabelId label) {
    return kernels(thread, {.bytes = bytes, .host = reference}, account, label);
  }
  /// Issues `launch.count` equal launches as one task.
  TaskId kernels(const HostThread& thread, const OptimizerLaunch& launch, Account account, LabelId label);
  /// Issues nodes that a graph executor runs in addition to the main chain. Does nothing without a graph
  /// executor.
  void nodes(const HostThread& thread, const GraphNodes& nodes, Account account, LabelId label);

  bool is_graph() const { return foretrain::is_graph(framework_); }
  const FrameworkProfile& profile() const { return profile_of(framework_); }

 private:
  void launch_captured_graph(const HostThread& thread);
  /// Returns the host cost of one more operator on the reference CPU, where the framework owns every kernel.
  Time own_cost() const;
  /// Host and kernel time of one operator for a batch; -1: nothing computed yet.
  struct Price {
    std::int64_t batch = -1;
    Time host{}, kernel{};
  };
  const Price& price_of(const Operator& op, std::int64_t batch);

  Process& process_;
  const Workload& workload_;
  const Framework& framework_;
  LabelId inputs_label_;
  /// Prices by number in OperatorCosts. Every step runs the same operators, so each is computed once per
  /// batch size.
  std::vector<Price> prices_;
};

}  // namespace foretrain
