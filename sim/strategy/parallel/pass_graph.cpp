// The host, the compute stream and the groups' streams as queues of a task graph.
#include "sim/strategy/parallel/pass_graph.hpp"

#include <utility>

namespace foretrain {

PassGraph::PassGraph(Time launch_latency)
    : latency_(launch_latency),
      host_(graph_.add_queue("host")),
      compute_(graph_.add_queue("compute")),
      device_(graph_.add_device("gpu")) {
  for (const char* name :
       {"tensor", "context", "expert", "expert tensor", "gather", "scatter", "to host", "to GPU"})
    streams_.push_back(graph_.add_queue(name));
}

void PassGraph::reserve(std::size_t tasks) {
  // Dependencies of a task in the mean: its queue, its call, and what it waits for.
  constexpr std::size_t kDependencies = 3;
  graph_.reserve(tasks, kDependencies * tasks);
}

/// A wait of the host holds for one call only; later calls follow in its queue.
void PassGraph::call(Time duration) {
  Task task;
  task.queue = host_, task.duration = duration;
  task.account = static_cast<std::uint8_t>(PassCharge::host);
  std::vector<Dependency> after;
  if (host_waits_ != kNone) after.push_back({host_waits_, {}});
  host_waits_ = kNone;
  called_ = graph_.add(task, after);
}

TaskId PassGraph::kernel(Time duration, TaskId waits_for) {
  std::vector<Dependency> after = std::exchange(waits_, {});
  after.push_back(called());
  if (waits_for != kNone) after.push_back({waits_for, {}});
  Task task;
  task.kind = TaskKind::kernel, task.queue = compute_, task.duration = duration, task.device = device_;
  task.account = static_cast<std::uint8_t>(PassCharge::compute);
  return last_ = graph_.add(task, after);
}

/// Exchanges are launched like kernels, but run on the stream of their group.
TaskId PassGraph::add_exchange(const Exchange& exchange, std::vector<Dependency> after) {
  after.push_back(called());
  Task task;
  task.kind = TaskKind::collective, task.queue = streams_[static_cast<std::size_t>(exchange.stream)];
  task.duration = exchange.duration, task.account = static_cast<std::uint8_t>(exchange.charge);
  task.device = device_, task.device_share = exchange.gpu_share;
  return graph_.add(task, after);
}

TaskId PassGraph::exchange_behind(const Exchange& exchange) {
  // Data that the next kernel waits for is also the data that would be sent.
  std::vector<Dependency> after = waits_;
  if (last_ != kNone) after.push_back({last_, {}});
  return add_exchange(exchange, std::move(after));
}

TaskId PassGraph::exchange(const Exchange& exchange) {
  const TaskId task = exchange_behind(exchange);
  kernel_waits_for(task);
  return task;
}

TaskId PassGraph::prefetch(const Exchange& exchange) { return add_exchange(exchange, {}); }

TaskId PassGraph::copy(PassStream stream, Time duration, TaskId after) {
  std::vector<Dependency> behind;
  if (after != kNone) behind.push_back({after, {}});
  Task task;
  task.queue = streams_[static_cast<std::size_t>(stream)], task.duration = duration;
  task.account = static_cast<std::uint8_t>(PassCharge::data);
  return graph_.add(task, behind);
}

/// The mark has a call of its own, so that it cannot start before the host has issued the pass.
TaskId PassGraph::mark() {
  call(Time{});
  return kernel(Time{});
}

}  // namespace foretrain
