// The parts that both forms of torch.nn.DataParallel share: one process with all GPUs, a batch for all of
// them, losses and optimizer on GPU 0.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/step/training_step.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

// Calls of torch.nn.DataParallel: one process, a copy of the module on each of its GPUs, and the copies'
// Python under one GIL.

/// The module that one torch.nn.DataParallel wraps: a network without its losses, or one layer of it.
/// Operators point into the model that they come from, which must outlive this.
struct WrappedModule {
  std::vector<const Operator*> forward;
  std::vector<const BackwardStep*> backward;
  /// Indices into ExpandedModel::parameters, in order of registration.
  std::vector<std::uint32_t> parameters;
  /// Elements of these parameters.
  std::vector<std::int64_t> elements;
  /// Elements of buffers with 4 and with 8 bytes per element.
  std::vector<std::int64_t> float_buffers, integer_buffers;
  /// torch modules in it; each copy builds all of them.
  std::int64_t modules = 1;
  /// Elements of the output per sample.
  std::int64_t output_elements = 0;
  std::size_t buffers() const { return float_buffers.size() + integer_buffers.size(); }
};

/// Returns for each layer of the model whether it is a loss. Scripts keep losses outside of the wrapped
/// network.
std::vector<bool> loss_layers(const ExpandedModel& model);

/// Returns everything but the losses as one module. Its outputs are the inputs of the losses.
WrappedModule wrap_network(const ExpandedModel& model);
/// Returns every layer that runs operators as a module of its own, in the order of the forward pass. Losses
/// are omitted, and views too, which scripts write as calls of a tensor.
std::vector<WrappedModule> wrap_layers(const ExpandedModel& model);
/// Returns the operators of the losses.
WrappedModule losses_of(const ExpandedModel& model);

/// Issues the work of calling a wrapped module on all GPUs of the job, and of autograd in its backward pass
/// (docs/models/replicated.md). The process must have one GPU so far; all others of the placement are
/// added. Process and step must outlive it.
class Replicas {
 public:
  Replicas(Process& process, TrainingStep& step);

  /// Issues a call: device check, scatter of `input` bytes for each GPU, broadcast of parameters and buffers,
  /// copies of the modules, a thread per GPU, gather of the outputs to GPU 0. With one GPU only check,
  /// scatter and operators remain.
  void forward(const WrappedModule& module, Bytes input);
  /// Issues the backward pass of a call on the autograd threads: scatter of the outputs' gradient, every
  /// GPU's backward, sum of the parameters' gradients on GPU 0. If `gathers_input`, it also gathers the
  /// gradient of the input (`input` bytes from each GPU) on GPU 0.
  void backward(const WrappedModule& module, Bytes input, bool gathers_input);

  int gpus() const { return gpus_; }
  /// Returns whether each call plans its convolutions anew: cuDNN's plans belong to a thread, and each call
  /// starts new threads.
  bool plans_anew() const { return plans_anew_; }
  /// Returns the bytes of one GPU's share of the outputs.
  Bytes output_bytes(const WrappedModule& module) const;

 private:
  void scatter(const HostThread& thread, Bytes share, LabelId label);
  void gather(const HostThread& thread, Bytes share, LabelId label);
  /// Broadcasts parameters and buffers, then builds a copy of the modules for each GPU.
  void replicate(const WrappedModule& module);
  void broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes, LabelId label);
  void run_threads(const WrappedModule& module);
  HostThread under_gil(const HostThread& thread) const;
  /// Issues one copy's forward operators on its thread.
  void run_thread(const HostThread& thread, const WrappedModule& module);
  /// Issues backward on all GPUs at the same time.
  void run_autograd(const WrappedModule& module);
  /// Sums the gradients on GPU 0.
  void reduce(const WrappedModule& module);
  void collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label);

  Process& process_;
  TrainingStep& step_;
  int gpus_;
  std::int64_t batch_, element_bytes_;
  PoolId gil_;
  bool plans_anew_;
  /// Threads of parallel_apply, one per GPU.
  std::vector<HostThread> threads_;
  struct Labels {
    LabelId check, scatter, flatten, parameters, buffers, replicate, threads, plan, gil, gather,
        gradient_scatter, reduce, unflatten;
  } labels_;
};

/// The steps of a run. The wrapped modules are called in sequence in forward, and in reverse order in
/// backward.
class DataParallelSteps {
 public:
  DataParallelSteps(const PlanRequest& request, Plan& plan, std::vector<WrappedModule> modules);

  /// Issues all steps of the request and fills the plan.
  void run();

 private:
  void forward();
  void backward(bool accumulating);
  void explain();
  StrategyMemory memory() const;

  const PlanRequest& request_;
  Plan& plan_;
  const ExpandedModel& model_;
  std::vector<WrappedModule> modules_;
  WrappedModule losses_;
  /// The workload with the batch, workers and cores of all GPUs.
  Workload whole_;
  Process process_;
  TrainingStep step_;
  Replicas replicas_;
};

}  // namespace foretrain
