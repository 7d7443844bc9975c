// Calls of wrapped modules.
//
// The main thread issues the work that all GPUs share. The threads of parallel_apply and autograd's device
// threads issue one GPU's kernels each. Python runs under the GIL, so the copies' forward calls follow one
// another; backward is C++ and runs on all GPUs at the same time.
#include <fmt/format.h>

#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/replicas/data_parallel_steps.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// In some versions cuDNN's plans belong to a thread; captured graphs plan nothing.
bool plans_belong_to_threads(const Framework& framework) {
  const auto& plans = profile_of(framework).plans_by_thread;
  return plans && plans->holds(framework.version) && framework.execution != Execution::cuda_graphs;
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
    const auto gpu = static_cast<std::size_t>(rank);
    threads_.push_back(process.add_thread(fmt::format("forward thread {}", rank)).on_gpu(gpu));
  }
}

Bytes Replicas::output_bytes(const WrappedModule& module) const {
  return Bytes{kFloatBytes * module.output_elements} * batch_;
}

/// Copies shares from GPU 0 to each other GPU; its own share stays in place.
void Replicas::scatter(const HostThread& thread, Bytes share, LabelId label) {
  process_.host(thread, process_.calls().scatter * gpus_, Account::host, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, 0, gpu, share, Account::exposed_communication, label);
}

/// Gathers shares into one new tensor on GPU 0, including its own.
void Replicas::gather(const HostThread& thread, Bytes share, LabelId label) {
  process_.host(thread, process_.calls().gather, Account::host, label);
  process_.launch_copy(thread, share * 2, Time{}, Account::other, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, gpu, 0, share, Account::exposed_communication, label);
}

/// Issues a collective of NCCL within one process: one launch for each GPU.
void Replicas::collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label) {
  process_.host(thread, process_.calls().grouped_launch * (gpus_ - 1), Account::host, label);
  process_.collective_of_all_gpus(thread, op, size, label);
}

/// Broadcasts tensors in groups: flatten, broadcast, and views into the result on the other GPUs.
void Replicas::broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes,
                         LabelId label) {
  const HostThread thread = process_.main_thread();
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
  process_.host(process_.main_thread(), replica * gpus_, Account::host, labels_.replicate);
}

/// Returns the thread with every framework call holding the GIL. The more threads want the GIL, the longer it
/// takes to pass on.
HostThread Replicas::under_gil(const HostThread& thread) const {
  return thread.holding(gil_, process_.on_this_host(process_.calls().gil * (gpus_ - 1)), labels_.gil);
}

/// Issues the forward operators of one copy. cuDNN plans without the GIL.
void Replicas::run_thread(const HostThread& thread, const WrappedModule& module) {
  const HostThread python = under_gil(thread);
  for (const Operator* op : module.forward) {
    if (plans_anew_ && op->call == HostCall::conv2d)
      process_.host(thread, process_.calls().plan_convolution, Account::host, labels_.plan);
    step_.forward_operator(python, *op, batch_);
  }
}

/// The main thread starts a thread for each GPU, under the GIL, and joins them all.
void Replicas::run_threads(const WrappedModule& module) {
  const HostThread main = process_.main_thread();
  for (const HostThread& thread : threads_) {
    process_.host(under_gil(main), process_.calls().thread, Account::host, labels_.threads);
    process_.hand_over(main, thread);
    run_thread(thread, module);
  }
  for (const HostThread& thread : threads_) process_.hand_over(thread, main);
}

void Replicas::forward(const WrappedModule& module, Bytes input) {
  const HostThread main = process_.main_thread();
  process_.host(
      main,
      process_.calls().replica_check * static_cast<std::int64_t>(module.parameters.size() + module.buffers()),
      Account::host, labels_.check);
  scatter(main, input, labels_.scatter);
  if (gpus_ == 1) {
    for (const Operator* op : module.forward) step_.forward_operator(main, *op, batch_);
    return;
  }
  replicate(module);
  run_threads(module);
  gather(main, output_bytes(module), labels_.gather);
}

/// Issues backward with one thread per GPU, all concurrently. Gradients of the copies' parameters are kept
/// for the sum.
void Replicas::run_autograd(const WrappedModule& module) {
  const HostThread first = process_.autograd_thread();
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.hand_over(first, process_.autograd_thread(gpu));
  for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
    for (const BackwardStep* step : module.backward)
      step_.backward_operator(process_.autograd_thread(gpu), *step, batch_);
  }
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.hand_over(process_.autograd_thread(gpu), first);
}

/// Sums gradients by reduce_add_coalesced: lists of tensors are made in Python; each group is flattened on
/// every GPU, summed on GPU 0 and cut into views.
void Replicas::reduce(const WrappedModule& module) {
  const HostThread thread = process_.autograd_thread();
  for (const CoalescedGroup& group : reduce_groups(module.elements, element_bytes_)) {
    const auto tensors = static_cast<std::int64_t>(group.tensors);
    for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
      process_.host(thread, process_.calls().replica_check * tensors, Account::host, labels_.flatten);
      process_.launch_copy(thread.on_gpu(gpu), group.size * 2, process_.calls().flatten, Account::other,
                           labels_.flatten);
    }
    collective(thread, CollectiveOp::reduce, group.size, labels_.reduce);
    process_.host(thread, process_.calls().view * tensors * 2, Account::host, labels_.unflatten);
  }
}

void Replicas::backward(const WrappedModule& module, Bytes input, bool gathers_input) {
  if (gpus_ == 1) {
    for (const BackwardStep* step : module.backward)
      step_.backward_operator(process_.autograd_thread(), *step, batch_);
    return;
  }
  scatter(process_.autograd_thread(), output_bytes(module), labels_.gradient_scatter);
  run_autograd(module);
  reduce(module);
  if (gathers_input) gather(process_.autograd_thread(), input, labels_.gradient_scatter);
}

}  // namespace foretrain
