// Kernels and messages on streams of their own, as recorded programs issue them.
#include "sim/strategy/process/plan_reuse.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

namespace {

/// Kernels of two streams that wait for the same memory get an equal part of it each (docs/models/step.md).
constexpr int kStreamSharers = 2;

Task task_on(QueueId stream, TaskKind kind, Account account, Time duration) {
  Task task;
  task.kind = kind;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = stream;
  task.duration = duration;
  return task;
}

}  // namespace

/// A kernel of a second stream lasts kStreamSharers times as long and takes 1 / kStreamSharers of the device
/// from compute kernels.
TaskId Process::launch_on(QueueId stream, const HostThread& thread, Time host, Time kernel, LabelId label,
                          std::span<const TaskId> after) {
  Task task = task_on(stream, TaskKind::kernel, Account::other, kernel * kStreamSharers);
  task.device = gpus_.front().device;
  task.device_share = 1.0 / kStreamSharers;
  task.label = label;
  std::vector<Dependency> before{
      {graph_.add(host_task(thread, host, Account::host)), host_costs().launch_latency}};
  for (const TaskId event : after) before.push_back({event});
  return graph_.add(task, before);
}

/// The pair of GPUs is a group of two ranks, from the cache of the cluster.
TaskId Process::message(const HostThread& thread, GpuPlace to, Bytes bytes, LabelId label, QueueId stream,
                        std::span<const TaskId> after) {
  const GpuPlace own = gpus_.front().place;
  const Placement pair{{own, to}, own.node == to.node ? 1 : 2};
  const auto collectives = reuse_->collectives->of(pair, {}, request_.collective);
  GroupCollective& known = collectives->at(CollectiveOp::sendrecv, bytes);
  Task task = task_on(stream, TaskKind::collective, Account::exposed_communication, known.plan.latency);
  task.label = label;
  task.pattern = graph_.share_pattern(collectives->flows(known));
  task.traffic = bytes;
  std::vector<Dependency> before{
      {host(thread, host_costs().collective_call, Account::host), host_costs().launch_latency}};
  for (const TaskId event : after) before.push_back({event});
  return graph_.add(task, before);
}

}  // namespace foretrain
