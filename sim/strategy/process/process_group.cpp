// The process group.
//
// An operation of gloo is three tasks: copy to the host, the collective on a worker thread, copy back. The
// worker threads are a pool of two units: each operation has a queue of its own, and the pool serves them in
// the order of their requests.
#include "sim/strategy/process/process_group.hpp"

#include <fmt/format.h>

#include "sim/base/quantity.hpp"

namespace foretrain {

ProcessGroup::ProcessGroup(Process& process, Backend backend)
    : process_(process), backend_(backend), transport_(gloo_over_tcp()) {
  if (!is_gloo()) return;
  const Cluster& cluster = process.request().cluster;
  job_.emplace(cluster, process.request().placement, transport_);
  const auto [node, gpu] = process.place(0);
  stages_ = process.gpu().architecture != Architecture::cpu;
  out_ = cluster.route(cluster.gpu(node, gpu), cluster.cpu_of_gpu(node, gpu));
  in_ = cluster.route(cluster.cpu_of_gpu(node, gpu), cluster.gpu(node, gpu));
  workers_ = process.graph().add_pool("gloo threads", kGlooThreads);
  if (!stages_) return;
  to_host_ = process.graph().add_queue("copies to the host");
  to_gpu_ = process.graph().add_queue("copies to the GPU");
}

TaskId ProcessGroup::start(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
                           WireType type) {
  return is_gloo() ? start_gloo(thread, op, size, label, type)
                   : process_.collective(thread, op, size, label, type);
}

void ProcessGroup::wait(const HostThread& thread, TaskId work) {
  const auto operation = operations_.find(work);
  if (operation != operations_.end()) {
    free_slots_.push_back(operation->second.slot);
    process_.synchronize(thread, operation->second.reduced);
    operations_.erase(operation);
  }
  process_.stream_waits_for(work);
}

/// A queue runs its tasks in order, so operations in progress need different queues.
std::size_t ProcessGroup::take_slot() {
  if (free_slots_.empty()) {
    slots_.push_back(process_.graph().add_queue(fmt::format("gloo operation {}", slots_.size())));
    return slots_.size() - 1;
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

PatternId ProcessGroup::pattern_of(const TransportTraffic& traffic) {
  if (traffic.flows.empty()) return kNone;
  const auto [known, is_new] = patterns_.try_emplace(*traffic.plan.choice.family, kNone);
  if (is_new) known->second = process_.graph().add_pattern(traffic.flows);
  return known->second;
}

const Task& ProcessGroup::gloo_task(CollectiveOp op, Bytes size) {
  const auto [known, is_new] = gloo_tasks_.try_emplace({op, size.count});
  Task& task = known->second;
  if (!is_new) return task;
  const TransportTraffic traffic = job_->traffic(op, size);
  // A process alone exchanges nothing and has no algorithm.
  if (const auto family = traffic.plan.choice.family)
    process_.decisions().add(fmt::format("{} {}", name_of(op), to_string(size)),
                             fmt::format("{} over gloo", name_of(*family)), traffic.plan.choice.why);
  task.kind = TaskKind::collective;
  task.account = static_cast<std::uint8_t>(Account::exposed_communication);
  task.pool = workers_;
  task.duration = traffic.before;
  task.pattern = pattern_of(traffic);
  task.traffic = size;
  return task;
}

/// The collective starts after its call and the last kernel, or after the copy to the host that waits for
/// both.
TaskId ProcessGroup::start_gloo(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
                                WireType type) {
  TaskGraph& graph = process_.graph();
  const TaskId call = process_.host(thread, process_.host_costs().collective_call, Account::host);
  std::vector<TaskId> after{call};
  if (const TaskId last = process_.last_kernel(); last != kNone) after.push_back(last);
  if (stages_)
    after = {process_.transfer(to_host_, out_, size, Account::exposed_communication,
                               graph.label("copy of gradients to the host"), after)};
  std::vector<Dependency> before;
  for (const TaskId task : after) before.push_back({task});
  Operation operation{take_slot()};
  Task task = gloo_task(op, size);
  task.label = label;
  task.queue = slots_[operation.slot];
  const TaskId reduced = operation.reduced = graph.add(task, before);
  graph.note_traffic({reduced, static_cast<std::uint8_t>(op), static_cast<std::uint8_t>(Group::world), 0,
                      static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(process_.pass()), size});
  const TaskId work = stages_ ? process_.transfer(to_gpu_, in_, size, Account::exposed_communication,
                                                  graph.label("copy of gradients to the GPU"), {&reduced, 1})
                              : reduced;
  operations_.emplace(work, operation);
  return work;
}

}  // namespace foretrain
