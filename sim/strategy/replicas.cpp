// The main thread issues what all GPUs share; the threads of parallel_apply and autograd's device threads issue one GPU's kernels each.
// Python runs under the GIL, so that the copies' forward calls follow one another; backward is C++ and runs at once on all GPUs.
#include "sim/strategy/replicas.hpp"

#include <fmt/format.h>

#include "sim/strategy/call_costs.hpp"
#include "sim/strategy/coalesced_groups.hpp"
#include "sim/strategy/ddp_buckets.hpp"

namespace foretrain {

namespace {

// On the reference CPU (facts/measured/dp_replicate_gil.json, minima; "recalled" otherwise).
constexpr Time kCheckTensor = Time{780'000};          ///< device check, per parameter and buffer: 0.78 us
constexpr Time kCopyModule = Time{5'000'000};         ///< _replicate_for_data_parallel, per replica
constexpr Time kCopyParameter = Time{1'900'000};      ///< per replica
constexpr Time kCopyBuffer = Time{3'000'000};         ///< per replica
constexpr Time kStartThread = Time{37'000'000};       ///< threading.Thread: create, start, join
constexpr Time kPassGil = Time{600'000};              ///< per call and other thread that wants the GIL: 0.6 us
constexpr Time kPlanConvolution = Time{250'000'000};  ///< cuDNN's heuristics for one convolution: 0.55 ms on a host of slowdown 2.2
constexpr Time kView = Time{980'000};                 ///< a view of a flat tensor, as in the table of host times
constexpr Time kScatterShare =
    Time{36'000'000};                       ///< chunk, streams, events of one GPU's share beside the copy's own call; recalled 30-50 us
constexpr Time kGather = Time{20'000'000};  ///< one call for all shares; recalled
constexpr Time kFurtherLaunch = Time{4'000'000};  ///< NCCL group: each GPU after the first; recalled 3-5 us

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

Bytes Replicas::output_bytes(const WrappedModule& module) const { return Bytes{4 * module.output_elements} * batch_; }

/// From GPU 0 to each of the others; its own share stays where it is.
void Replicas::scatter(QueueId thread, Bytes share, LabelId label) {
  process_.host(thread, kScatterShare * gpus_, Account::host, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, 0, gpu, share, Account::exposed_communication, label);
}

/// Into one new tensor on GPU 0, its own share too.
void Replicas::gather(QueueId thread, Bytes share, LabelId label) {
  process_.host(thread, kGather, Account::host, label);
  process_.launch_copy(thread, share * 2, Time{}, Account::other, label);
  for (std::size_t gpu = 1; gpu < process_.gpus(); ++gpu)
    process_.copy_between(thread, gpu, 0, share, Account::exposed_communication, label);
}

/// NCCL within one process: one launch for each GPU.
void Replicas::collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label) {
  process_.host(thread, kFurtherLaunch * (gpus_ - 1), Account::host, label);
  process_.collective_of_all_gpus(thread, op, size, label);
}

void Replicas::broadcast(const std::vector<std::int64_t>& elements, std::int64_t element_bytes, LabelId label) {
  const QueueId thread = process_.main_thread;
  for (const CoalescedGroup& group : broadcast_groups(elements, element_bytes)) {
    process_.launch_copy(thread, group.size * 2, kFlattenCall, Account::other, labels_.flatten);
    collective(thread, CollectiveOp::broadcast, group.size, label);
    process_.host(thread, kView * static_cast<std::int64_t>(group.tensors) * (gpus_ - 1), Account::host, labels_.unflatten);
  }
}

void Replicas::replicate(const WrappedModule& module) {
  broadcast(module.elements, element_bytes_, labels_.parameters);
  broadcast(module.float_buffers, 4, labels_.buffers);
  broadcast(module.integer_buffers, 8, labels_.buffers);
  const Time replica = kCopyModule * module.modules + kCopyParameter * static_cast<std::int64_t>(module.parameters.size()) +
                       kCopyBuffer * static_cast<std::int64_t>(module.buffers());
  process_.host(process_.main_thread, replica * gpus_, Account::host, labels_.replicate);
}

/// Every framework call of a thread holds the GIL; the more threads want it, the longer it takes to pass on. cuDNN plans without it.
void Replicas::run_thread(QueueId thread, const WrappedModule& module) {
  process_.main_thread = thread;
  for (const Operator* op : module.forward) {
    if (plans_anew_ && op->call == HostCall::conv2d) {
      process_.hold(kNone);
      process_.host(thread, kPlanConvolution, Account::host, labels_.plan);
    }
    process_.hold(gil_, kPassGil * (gpus_ - 1), labels_.gil);
    step_.forward_operator(*op, batch_);
  }
}

void Replicas::run_threads(const WrappedModule& module) {
  const QueueId main = process_.main_thread;
  for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
    process_.use_gpu(0);
    process_.hold(gil_, kPassGil * (gpus_ - 1), labels_.gil);
    process_.host(main, kStartThread, Account::host, labels_.threads);
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
  process_.host(main, kCheckTensor * static_cast<std::int64_t>(module.parameters.size() + module.buffers()), Account::host, labels_.check);
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

/// reduce_add_coalesced: lists of tensors are made in Python, each group is flattened on every GPU, summed on GPU 0 and cut into views.
void Replicas::reduce(const WrappedModule& module) {
  const QueueId thread = process_.autograd_thread;
  for (const CoalescedGroup& group : reduce_groups(module.elements, element_bytes_)) {
    const auto tensors = static_cast<std::int64_t>(group.tensors);
    for (std::size_t gpu = 0; gpu < process_.gpus(); ++gpu) {
      process_.use_gpu(gpu);
      process_.host(thread, kCheckTensor * tensors, Account::host, labels_.flatten);
      process_.launch_copy(thread, group.size * 2, kFlattenCall, Account::other, labels_.flatten);
    }
    process_.use_gpu(0);
    collective(thread, CollectiveOp::reduce, group.size, labels_.reduce);
    process_.host(thread, kView * tensors * 2, Account::host, labels_.unflatten);
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
