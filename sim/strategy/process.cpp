// A host call is one task on its thread; the kernel it launches is a second one on the stream, released by the first after the
// launch latency. Everything else in a step is made of these two.
#include "sim/strategy/process.hpp"

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"

namespace foretrain {

namespace {

Task task_of(TaskKind kind, Account account, QueueId queue, Time duration) {
  Task task;
  task.kind = kind;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = queue;
  task.duration = duration;
  return task;
}

KernelCalibration slowed(KernelCalibration kernels, double factor) {
  kernels.time_scale *= factor;
  return kernels;
}

}  // namespace

double slowest_rank_factor(double spread, int ranks) { return 1 + spread * expected_normal_maximum(ranks); }

Process::Process(const PlanRequest& request, TaskGraph& graph)
    : request_(request),
      graph_(graph),
      kernels_(slowed(request.device.kernel, slowest_rank_factor(request.device.rank_spread, request.placement.size()))),
      communicator_(request.cluster, request.placement, request.collective) {
  main_thread = graph.add_queue("main thread");
  autograd_thread = graph.add_queue("autograd thread");
  loader = graph.add_queue("loader workers");
  pinner = graph.add_queue("pin-memory thread");
  compute_stream = graph.add_queue("compute stream");
  nccl_stream = graph.add_queue("NCCL stream");
  device_ = graph.add_device("GPU");
  const GpuPlace place = request.placement.ranks.front();
  const Route route = request.cluster.route(request.cluster.cpu_of_gpu(place.node, place.gpu), request.cluster.gpu(place.node, place.gpu));
  const bool staged = !request.workload.data.pinned && request.workload.data.loader == LoaderKind::torch;
  const double pageable = staged ? 2 : 1;  // staged through a pinned buffer at half the rate
  input_pattern_ = graph.add_pattern({{route.links, pageable}});
  input_latency_ = route.latency;
}

Time Process::on_this_host(Time reference) const { return on_host(reference, host_cpu(), host_costs()); }

TaskId Process::host(QueueId thread, Time reference, Account account) { return host_for(thread, on_this_host(reference), account); }

TaskId Process::host_for(QueueId thread, Time duration, Account account, std::span<const Dependency> after) {
  return graph_.add(task_of(TaskKind::host, account, thread, duration), after);
}

TaskId Process::enqueue(QueueId thread, Time host, Task kernel) {
  const Task call = task_of(TaskKind::host, Account::host, thread, host);
  const bool queue_is_full = launched_.size() >= kDriverQueue;
  const TaskId call_id = queue_is_full ? graph_.add(call, {{launched_[launched_.size() - kDriverQueue]}}) : graph_.add(call);
  std::vector<Dependency> after;
  after.reserve(stream_waits_.size() + 1);
  after.push_back({call_id, host_costs().launch_latency});
  for (const TaskId event : stream_waits_) after.push_back({event});
  stream_waits_.clear();
  launched_.push_back(graph_.add(kernel, after));
  return launched_.back();
}

TaskId Process::launch(QueueId thread, Time host, Time kernel, Account account, LabelId label) {
  Task task = task_of(TaskKind::kernel, account, compute_stream, kernel);
  task.device = device_;
  task.label = label;
  return enqueue(thread, host, task);
}

TaskId Process::launch_copy(QueueId thread, Bytes bytes, Time reference, Account account, LabelId label) {
  return launch(thread, on_this_host(reference + host_costs().launch), memory_kernel_time(bytes, gpu(), kernels_), account, label);
}

TaskId Process::synchronize(QueueId thread) {
  const Task wait = task_of(TaskKind::wait, Account::host, thread, Time::zero());
  const TaskId last = last_kernel();
  if (last == kNone) return graph_.add(wait);
  return graph_.add(wait, {{last, host_costs().sync_wake}});
}

void Process::hand_over(QueueId from, QueueId to) {
  const TaskId last = graph_.last_on(from);
  const Task wait = task_of(TaskKind::wait, Account::host, to, Time::zero());
  if (last != kNone) graph_.add(wait, {{last}});
}

PatternId Process::pattern_of(const CollectivePlan& plan) {
  const CachedPattern wanted{plan.op, plan.algorithm, plan.protocol, plan.stretch, kNone};
  for (const CachedPattern& known : patterns_) {
    if (known.is_like(wanted)) return known.pattern;
  }
  patterns_.push_back(wanted);
  patterns_.back().pattern = graph_.add_pattern(communicator_.flows(plan));
  return patterns_.back().pattern;
}

TaskId Process::collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label) {
  const CollectivePlan plan = communicator_.plan(op, size);
  decisions_.add(fmt::format("{} {}", name_of(op), to_string(size)),
                 fmt::format("{}, {}, {} channels", plan.algorithm_name(), name_of(plan.protocol), plan.channels), plan.why);
  Task task = task_of(TaskKind::collective, Account::exposed_communication, nccl_stream, plan.latency);
  task.device = device_;
  task.device_share = std::min(0.9, static_cast<double>(plan.channels) / std::max(1, gpu().sm_count));
  task.label = label;
  if (request_.placement.size() > 1) {
    task.pattern = pattern_of(plan);
    task.traffic = size;
  }
  const TaskId call = host(thread, host_costs().collective_call, Account::host);
  const TaskId before = last_kernel();
  if (before == kNone) return graph_.add(task, {{call, host_costs().launch_latency}});
  return graph_.add(task, {{call, host_costs().launch_latency}, {before}});
}

TaskId Process::copy_to_device(QueueId thread, Bytes bytes, LabelId label) {
  Task copy = task_of(TaskKind::copy, Account::input_stall, compute_stream, input_latency_);
  copy.label = label;
  copy.pattern = input_pattern_;
  copy.traffic = bytes;
  return enqueue(thread, on_this_host(host_costs().copy_call), copy);
}

TaskId Process::copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label) {
  Task copy = task_of(TaskKind::copy, Account::input_stall, stream, input_latency_);
  copy.label = label;
  copy.pattern = input_pattern_;
  copy.traffic = bytes;
  return graph_.add(copy, {{ready, host_costs().launch_latency}});
}

}  // namespace foretrain
