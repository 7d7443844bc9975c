// The main thread issues what all GPUs share; the threads of parallel_apply and autograd's device threads
// issue one GPU's kernels each. Python runs under the GIL, so that the copies' forward calls follow one
// another; backward is C++ and runs at once on all GPUs.
#include "sim/strategy/replicas/replicas.hpp"

#include <fmt/format.h>

#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

// On the reference CPU (facts/measured/dp_replicate_gil.json, minima; "recalled" otherwise).

/// pytorch/pytorch #103939.
bool plans_belong_to_threads(const Framework& framework) {
  return framework.kind == FrameworkKind::pytorch && framework.version >= FrameworkVersion{2, 1} &&
         framework.execution != Execution::cuda_graphs;
}

}  // namespace

Replicas::Replicas(Process& process, TrainingStep& step)
    : process_(process),
      step_(step),
      gpus_(process.request().placement.size()),
      batch_(process.request().workload.batch_per_gpu),
      element_bytes_(gradient_element_bytes(process.request().workload)),
      gil_(process.graph().add_pool("GIL", 1)),
      plans_anew_(plans_belong_to_threads(process.request().workload.framework)) {
  TaskGraph& graph = process.graph();
  labels_ = {graph.label("device check"),
             graph.label("scatter of inputs"),
             graph.label("flatten"),
             graph.label("broadcast of parameters"),
             graph.label("broadcast of buffers"),
             graph.label("replicate modules"),
             graph.label("start of threads"),
             graph.label("convolution plans"),
             graph.label("forward threads under one GIL"),
             graph.label("gather of outputs"),
             graph.label("scatter of output gradients"),
             graph.label("reduce of gradients"),
             graph.label("unflatten")};
  for (int rank = 0; rank < gpus_; ++rank) {
    if (rank > 0) process.add_gpu(rank);
    threads_.push_back(graph.add_queue(fmt::format("forward thread {}", rank)));
  }
}

Bytes Replicas::output_bytes(const WrappedModule& module) const {
  return Bytes{4 * module.output_elements} * batch_;
}

/// From GPU 0 to each of the others; its own share stays where it is.
void Replicas::scatter(QueueId thread, Bytes share, LabelId label) {
  process_.host(thread, process_.calls().scatter * gpus_, Account::host, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, 0, gpu, share, Account::exposed_communication, label);
}

/// Into one new tensor on GPU 0, its own share too.
void Replicas::gather(QueueId thread, Bytes share, LabelId label) {
  process_.host(thread, process_.calls().gather, Account::host, label);
  process_.launch_copy(thread, share * 2, Time{}, Account::other, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, gpu, 0, share, Account::exposed_communication, label);
}

/// NCCL within one process: one launch for each GPU.
void Replicas::collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label) {
  process_.host(thread, process_.calls().grouped_launch * (gpus_ - 1), Account::host, label);
  process_.collective_of_all_gpus(thread, op, size, label);
}

void Replicas::broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes,
                         LabelId label) {
  const QueueId thread = process_.main_thread;
  for (const CoalescedGroup& group : broadcast_groups(elements, element_bytes)) {
    process_.launch_copy(thread, group.size * 2, process_.calls().flatten, Account::other, labels_.flatten);
    collective(thread, CollectiveOp::broadcast, group.size, label);
    process_.host(thread, process_.calls().view * static_cast<std::int64_t>(group.tensors) * (gpus_ - 1),
                  Account::host, labels_.unflatten);
  }
}

void Replicas::replicate(const WrappedModule& module) {
  broadcast(module.elements, element_bytes_, labels_.parameters);
  broadcast(module.float_buffers, 4, labels_.buffers);
  broadcast(module.integer_buffers, 8, labels_.buffers);
  const Time replica =
      process_.calls().replica_module * module.modules +
      process_.calls().replica_parameter * static_cast<std::int64_t>(module.parameters.size()) +
      process_.calls().replica_buffer * static_cast<std::int64_t>(module.buffers());
  process_.host(process_.main_thread, replica * gpus_, Account::host, labels_.replicate);
}

/// Every framework call of a thread holds the GIL; the more threads want it, the longer it takes to pass on.
/// cuDNN plans without it.
void Replicas::run_thread(QueueId thread, const WrappedModule& module) {
  process_.main_thread = thread;
  for (const Operator* op : module.forward) {
    if (plans_anew_ && op->call == HostCall::conv2d) {
      process_.hold(kNone);
      process_.host(thread, process_.calls().plan_convolution, Account::host, labels_.plan);
    }
    process_.hold(gil_, process_.calls().gil * (gpus_ - 1), labels_.gil);
    step_.forward_operator(*op, batch_);
  }
}

void Replicas::run_threads(const WrappedModule& module) {
  const QueueId main = process_.main_thread;
  for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
    process_.use_gpu(0);
    process_.hold(gil_, process_.calls().gil * (gpus_ - 1), labels_.gil);
    process_.host(main, process_.calls().thread, Account::host, labels_.threads);
    process_.hand_over(main, threads_[gpu]);
    process_.use_gpu(gpu);
    run_thread(threads_[gpu], module);
  }
  process_.hold(kNone);
  process_.use_gpu(0);
  for (const QueueId thread : threads_) process_.hand_over(thread, main);
}

void Replicas::forward(const WrappedModule& module, Bytes input) {
  const QueueId main = process_.main_thread;
  process_.host(
      main,
      process_.calls().replica_check * static_cast<std::int64_t>(module.parameters.size() + module.buffers()),
      Account::host, labels_.check);
  scatter(main, input, labels_.scatter);
  if (gpus_ == 1) {
    for (const Operator* op : module.forward) step_.forward_operator(*op, batch_);
    return;
  }
  replicate(module);
  run_threads(module);
  gather(main, output_bytes(module), labels_.gather);
}

/// One thread per GPU, all at once; gradients of the copies' parameters are kept for the sum.
void Replicas::run_autograd(const WrappedModule& module) {
  const QueueId first = process_.autograd_thread;
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu) {
    process_.use_gpu(gpu);
    process_.hand_over(first, process_.autograd_thread);
  }
  for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
    process_.use_gpu(gpu);
    for (const BackwardStep* step : module.backward) step_.backward_operator(*step, batch_);
  }
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu) {
    process_.use_gpu(gpu);
    process_.hand_over(process_.autograd_thread, first);
  }
  process_.use_gpu(0);
}

/// reduce_add_coalesced: lists of tensors are made in Python, each group is flattened on every GPU, summed on
/// GPU 0 and cut into views.
void Replicas::reduce(const WrappedModule& module) {
  const QueueId thread = process_.autograd_thread;
  for (const CoalescedGroup& group : reduce_groups(module.elements, element_bytes_)) {
    const auto tensors = static_cast<std::int64_t>(group.tensors);
    for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
      process_.use_gpu(gpu);
      process_.host(thread, process_.calls().replica_check * tensors, Account::host, labels_.flatten);
      process_.launch_copy(thread, group.size * 2, process_.calls().flatten, Account::other, labels_.flatten);
    }
    process_.use_gpu(0);
    collective(thread, CollectiveOp::reduce, group.size, labels_.reduce);
    process_.host(thread, process_.calls().view * tensors * 2, Account::host, labels_.unflatten);
  }
}

void Replicas::backward(const WrappedModule& module, Bytes input, bool gathers_input) {
  if (gpus_ == 1) {
    for (const BackwardStep* step : module.backward) step_.backward_operator(*step, batch_);
    return;
  }
  scatter(process_.autograd_thread, output_bytes(module), labels_.gradient_scatter);
  run_autograd(module);
  reduce(module);
  if (gathers_input) gather(process_.autograd_thread, input, labels_.gradient_scatter);
}

}  // namespace foretrain
