// Gathering of sparse gradients: two all-gathers per table, of values and of indices
// (horovod/tensorflow/__init__.py, allreduce).
//
// With NCCL (since 0.20, pull request 1952) both are on Horovod's stream. Before, with
// HOROVOD_GPU_ALLREDUCE=NCCL alone, Horovod's all-gather is an operator of the CPU. TensorFlow copies the
// rank's rows to host memory. The background thread itself runs MPI_Allgatherv, a ring in which every rank
// passes on what it got. Then TensorFlow copies the rows of all ranks back.
#include <algorithm>

#include "sim/collective/transport_routes.hpp"
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

/// Passes over an element of a row: it is read, and its place in the table is read and written.
constexpr std::int64_t kAdded = 3;

}  // namespace

HorovodGathering::HorovodGathering(Process& process, const HorovodSettings& settings,
                                   const HostThread& thread)
    : process_(process),
      settings_(settings),
      gradients_(sparse_gradients(process.request())),
      ranks_(process.request().placement.size()),
      thread_(thread),
      values_label_(process.graph().label("all_gather of sparse values")),
      indices_label_(process.graph().label("all_gather of sparse indices")),
      copy_label_(process.graph().label("copy of sparse gradients over host memory")),
      mpi_label_(process.graph().label("MPI all_gather of sparse gradients")),
      add_label_(process.graph().label("add gathered rows")) {
  const bool any = std::any_of(gradients_.begin(), gradients_.end(),
                               [](const auto& gradient) { return gradient.has_value(); });
  // The rest is for gathers over hosts: routes of the ring, and the copies of a node's ranks.
  if (!any || !settings.gathers_over_hosts) return;
  TaskGraph& graph = process.graph();
  to_host_ = graph.add_queue("copies to host memory"), to_gpu_ = graph.add_queue("copies from host memory");
  const PlanRequest& request = process.request();
  const TransportRoutes ways(request.cluster, request.placement, DataPlace::host_memory);
  copy_rate_ = process.host_cpu().memory_bandwidth;
  slowest_link_ = copy_rate_;
  std::vector<PatternFlow> flows;
  for (int rank = 0; rank < ranks_; ++rank) {
    TransportRoute way = ways.way(rank, (rank + 1) % ranks_);
    message_latency_ = std::max(message_latency_, way.latency + process.calls().mpi_message);
    if (way.links.empty()) continue;
    slowest_link_ = flows.empty() ? way.bandwidth : std::min(slowest_link_, way.bandwidth);
    flows.push_back({std::move(way.links), static_cast<double>(ranks_ - 1)});
  }
  if (!flows.empty()) ring_ = graph.add_pattern(std::move(flows));
  to_host_pattern_ = graph.add_pattern(copies_of_the_node(CopyTo::host));
  to_gpu_pattern_ = graph.add_pattern(copies_of_the_node(CopyTo::gpu));
}

Bytes HorovodGathering::gathered(std::uint32_t parameter) const {
  return gradients_[parameter]->bytes() * ranks_;
}

Route HorovodGathering::route_of(const GpuPlace& place, CopyTo to) const {
  const Cluster& cluster = process_.request().cluster;
  const VertexId cpu = cluster.cpu_of_gpu(place.node, place.gpu), gpu = cluster.gpu(place.node, place.gpu);
  return to == CopyTo::gpu ? cluster.route(cpu, gpu) : cluster.route(gpu, cpu);
}

/// Returns the flows of a copy: all ranks of the first rank's node copy at once and share PCIe links.
std::vector<PatternFlow> HorovodGathering::copies_of_the_node(CopyTo to) const {
  const std::vector<GpuPlace>& ranks = process_.request().placement.ranks;
  std::vector<PatternFlow> flows;
  for (const GpuPlace& place : ranks) {
    if (place.node == ranks.front().node) flows.push_back({route_of(place, to).links});
  }
  return flows;
}

Time HorovodGathering::hand_over_delay(std::uint32_t parameter) const {
  if (!settings_.gathers_over_hosts) return {};
  const Route route = route_of(process_.request().placement.ranks.front(), CopyTo::host);
  return route.latency + gradients_[parameter]->bytes() / route.bandwidth + process_.host_costs().sync_wake;
}

/// Returns the time of both rings without other traffic. Their pace is that of the slowest hop: a network's,
/// or that of a core that copies between two processes.
Time HorovodGathering::alone(Bytes own) const {
  return message_latency_ * (2 * (ranks_ - 1)) + own * (ranks_ - 1) / std::min(copy_rate_, slowest_link_);
}

/// Returns the part of that time which the links do not take.
Time HorovodGathering::outside_links(Bytes own) const {
  return ring_ == kNone ? alone(own) : alone(own) - own * (ranks_ - 1) / slowest_link_;
}

Time HorovodGathering::held(std::uint32_t parameter) const {
  if (settings_.gathers_over_hosts) return alone(gradients_[parameter]->bytes());
  return process_.on_this_host(process_.host_costs().collective_call) * 2;
}

/// Adds a task that moves data by flows, after a first part that takes a fixed time.
TaskId HorovodGathering::send(const Sending& what, TaskId after, Time wake) {
  Task task;
  task.kind = TaskKind::copy;
  task.account = static_cast<std::uint8_t>(Account::exposed_communication);
  task.queue = what.queue;
  task.duration = what.first;
  task.pattern = what.pattern;
  task.traffic = what.pattern == kNone ? Bytes{} : what.traffic;
  task.label = what.label;
  return process_.graph().add(task, {{after, wake}});
}

// Three tasks: to host memory, around the ring on the background thread, and back to the GPU.
TaskId HorovodGathering::over_hosts(Bytes own, TaskId ready) {
  const Time latency = route_of(process_.request().placement.ranks.front(), CopyTo::gpu).latency;
  // The thread is woken when its rows are in host memory; the copy back is from pageable memory.
  const TaskId out = send({to_host_, latency, to_host_pattern_, own, copy_label_}, ready, {});
  const TaskId met =
      send({thread_.queue, outside_links(own), ring_, own, mpi_label_}, out, process_.host_costs().sync_wake);
  return send({to_gpu_, latency, to_gpu_pattern_, own * ranks_ * kPageableSlowdown, copy_label_}, met, {});
}

TaskId HorovodGathering::gather(std::uint32_t parameter, TaskId ready) {
  const SparseGradient& own = *gradients_[parameter];
  if (settings_.gathers_over_hosts) return over_hosts(own.bytes(), ready);
  // Both gathers wait for the kernel; they follow one another on Horovod's stream.
  process_.collective({thread_, CollectiveOp::all_gather, own.values * ranks_, values_label_, kNone,
                       std::span(&ready, 1), Group::world});
  return process_.collective({thread_, CollectiveOp::all_gather, own.indices * ranks_, indices_label_, kNone,
                              std::span(&ready, 1), Group::world});
}

// The rank's own rows are in the gradient already.
void HorovodGathering::add_rows(const HostThread& thread, std::uint32_t parameter) {
  const SparseGradient& own = *gradients_[parameter];
  const Bytes bytes = (own.values * kAdded + own.indices) * (ranks_ - 1);
  process_.launch_copy(thread, bytes, process_.host_costs().node, Account::other, add_label_);
}

}  // namespace foretrain
