// Kernels and messages on streams of their own, as recorded programs issue them.
#include "sim/strategy/process/plan_reuse.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/process/process_tasks.hpp"

namespace foretrain {

/// A kernel of a second stream lasts kMemorySharers times as long and takes 1 / kMemorySharers of the device
/// from compute kernels.
TaskId Process::launch_on(QueueId stream, const HostThread& thread, Time host, Time kernel, LabelId label,
                          std::span<const TaskId> after) {
  Task task = task_of(TaskKind::kernel, Account::other, stream, kernel * kMemorySharers);
  task.device = gpus_.front().device;
  task.device_share = 1.0 / kMemorySharers;
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
  Task task = task_of(TaskKind::collective, Account::exposed_communication, stream, known.plan.latency);
  task.label = label;
  task.pattern = graph_.share_pattern(collectives->flows(known));
  task.traffic = bytes;
  std::vector<Dependency> before{
      {host(thread, host_costs().collective_call, Account::host), host_costs().launch_latency}};
  for (const TaskId event : after) before.push_back({event});
  return graph_.add(task, before);
}

}  // namespace foretrain
