// A call of torch.nn.DataParallel: one process, a copy of the module on each of its GPUs, the copies' Python
// under one GIL.
#pragma once

#include <vector>

#include "sim/strategy/replicas/wrapped_module.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

/// Issues what a call of a wrapped module does on all GPUs of the job, and what autograd does with it in
/// backward (docs/models/data_parallel.md). The process must have one GPU yet; all others of the placement
/// are added. In between, GPU 0 is in use.
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
  void scatter(QueueId thread, Bytes share, LabelId label);
  void gather(QueueId thread, Bytes share, LabelId label);
  void replicate(const WrappedModule& module);
  void broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes, LabelId label);
  void run_threads(const WrappedModule& module);
  void run_thread(QueueId thread, const WrappedModule& module);
  void run_autograd(const WrappedModule& module);
  void reduce(const WrappedModule& module);
  void collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label);

  Process& process_;
  TrainingStep& step_;
  int gpus_;
  std::int64_t batch_, element_bytes_;
  PoolId gil_;
  bool plans_anew_;
  std::vector<QueueId> threads_;  ///< of parallel_apply, one per GPU
  struct Labels {
    LabelId check, scatter, flatten, parameters, buffers, replicate, threads, plan, gil, gather,
        gradient_scatter, reduce, unflatten;
  } labels_;
};

}  // namespace foretrain
