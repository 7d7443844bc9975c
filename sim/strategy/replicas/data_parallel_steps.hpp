// What both forms of torch.nn.DataParallel share: one process with all GPUs, a batch for all of them, losses
// and optimizer on GPU 0.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/step/training_step.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

// A call of torch.nn.DataParallel: one process, a copy of the module on each of its GPUs, the copies' Python
// under one GIL.

// What one torch.nn.DataParallel wraps: a network without its losses, or one layer of it.

/// Operators point into the model they come from.
struct WrappedModule {
  std::vector<const Operator*> forward;
  std::vector<const BackwardStep*> backward;
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters, registration order
  std::vector<std::int64_t> elements;     ///< of these
  std::vector<std::int64_t> float_buffers, integer_buffers;  ///< elements, of 4 and 8 bytes
  std::int64_t modules = 1;
  std::int64_t output_elements = 0;  ///< per sample
  std::size_t buffers() const { return float_buffers.size() + integer_buffers.size(); }
};

/// Whether a layer of the model is a loss, by its number: scripts keep it outside of the wrapped network.
std::vector<bool> loss_layers(const ExpandedModel& model);

/// Everything but the losses. Its outputs are what the losses take.
WrappedModule wrap_network(const ExpandedModel& model);
/// Every layer that runs operators by itself, in the order of the forward pass; without losses, and without
/// views, which scripts write as calls of a tensor.
std::vector<WrappedModule> wrap_layers(const ExpandedModel& model);
/// The operators of the losses.
WrappedModule losses_of(const ExpandedModel& model);

/// Issues what a call of a wrapped module does on all GPUs of the job, and what autograd does with it in
/// backward (docs/models/data_parallel.md). The process must have one GPU yet; all others of the placement
/// are added.
class Replicas {
 public:
  Replicas(Process& process, TrainingStep& step);

  /// Device check, scatter of `input` bytes for each GPU, broadcast of parameters and buffers, copies of the
  /// modules, a thread per GPU, gather of the outputs to GPU 0.
  void forward(const WrappedModule& module, Bytes input);
  /// The same backwards, on the autograd threads: scatter of the outputs' gradient, every GPU's backward, sum
  /// of the parameters' gradients on GPU 0; where `gathers_input`, the gradient of the input (`input` bytes
  /// from each GPU) on GPU 0.
  void backward(const WrappedModule& module, Bytes input, bool gathers_input);

  int gpus() const { return gpus_; }
  /// cuDNN's plans belong to a thread, and each call starts new ones.
  bool plans_anew() const { return plans_anew_; }
  /// Bytes of one GPU's share of the outputs.
  Bytes output_bytes(const WrappedModule& module) const;

 private:
  void scatter(const HostThread& thread, Bytes share, LabelId label);
  void gather(const HostThread& thread, Bytes share, LabelId label);
  void replicate(const WrappedModule& module);
  void broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes, LabelId label);
  void run_threads(const WrappedModule& module);
  HostThread under_gil(const HostThread& thread) const;
  void run_thread(const HostThread& thread, const WrappedModule& module);
  void run_autograd(const WrappedModule& module);
  void reduce(const WrappedModule& module);
  void collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label);

  Process& process_;
  TrainingStep& step_;
  int gpus_;
  std::int64_t batch_, element_bytes_;
  PoolId gil_;
  bool plans_anew_;
  std::vector<HostThread> threads_;  ///< of parallel_apply, one per GPU
  struct Labels {
    LabelId check, scatter, flatten, parameters, buffers, replicate, threads, plan, gil, gather,
        gradient_scatter, reduce, unflatten;
  } labels_;
};

/// One job of steps. The wrapped modules are called one after the other in forward and backwards in backward.
class DataParallelSteps {
 public:
  DataParallelSteps(const PlanRequest& request, Plan& plan, std::vector<WrappedModule> modules);

  /// All steps of the request; fills the plan.
  void run();

 private:
  void add_micro_step(bool first);
  void forward();
  void backward(bool accumulating);
  void explain();
  StrategyMemory memory() const;

  const PlanRequest& request_;
  Plan& plan_;
  const ExpandedModel& model_;
  std::vector<WrappedModule> modules_;
  WrappedModule losses_;
  Workload whole_;  ///< with the batch, workers and cores of all GPUs
  Process process_;
  TrainingStep step_;
  Replicas replicas_;
};

}  // namespace foretrain
