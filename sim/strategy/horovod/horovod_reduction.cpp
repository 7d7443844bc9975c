// Reduction of one message.
// - Plain: one all-reduce of all GPUs.
// - Torus: reduce-scatter in the node, all-reduce of each share across nodes, all-gather in the node, all on
//   the stream.
// - Hierarchical: the same, but across nodes the shares go over the CPUs. The thread waits for the
//   reduce-scatter, copies its share into host memory, lets MPI reduce it, and copies it back.
#include <algorithm>

#include "sim/collective/transport_routes.hpp"
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

constexpr ByteRate kAdd{8e9};          ///< one core adds fp32; assumed
constexpr int kTorusCalls = 3;         ///< reduce-scatter, all-reduce between nodes, all-gather
constexpr int kHierarchicalCalls = 2;  ///< the same without what MPI does

Bytes scaled(Bytes size, double factor) {
  return {static_cast<std::int64_t>(static_cast<double>(size.count) * factor)};
}

}  // namespace

HorovodReduction::HorovodReduction(Process& process, const HorovodSettings& settings,
                                   const HostThread& thread)
    : process_(process),
      settings_(settings),
      thread_(thread),
      nodes_(process.request().placement.nodes),
      scatter_label_(process.graph().label("reduce_scatter in the node")),
      gather_label_(process.graph().label("all_gather in the node")),
      copy_label_(process.graph().label("copy over host memory")),
      mpi_label_(process.graph().label("MPI all_reduce between nodes")) {
  // Routes between CPUs are needed by the hierarchical form alone: each rank of the first node has a ring to
  // the same rank of the next node.
  if (!blocks()) return;
  const Placement& placement = process.request().placement;
  const Cluster& cluster = process.request().cluster;
  const TransportRoutes ways(cluster, placement, DataPlace::host_memory);
  const int local = settings.ranks_per_node;
  std::vector<PatternFlow> flows;
  for (int rank = 0; rank < local; ++rank) {
    TransportRoute way = ways.way(rank, rank + local);
    message_latency_ = std::max(message_latency_, way.latency + process.calls().mpi_message);
    if (rank == 0 || way.bandwidth < slowest_between_nodes_) slowest_between_nodes_ = way.bandwidth;
    flows.push_back({std::move(way.links), sent_per_byte()});
  }
  between_nodes_ = process.graph().add_pattern(std::move(flows));
}

/// Returns the bytes that a rank sends per byte of its share: in a ring its n-th part is sent 2(n - 1) times.
double HorovodReduction::sent_per_byte() const { return 2.0 * (nodes_ - 1) / nodes_; }

/// Returns the time of the ring besides its bytes: messages, and the sums that one core computes.
Time HorovodReduction::latency_between_nodes(Bytes share) const {
  return message_latency_ * (2 * (nodes_ - 1)) + scaled(share, 0.5 * sent_per_byte()) / kAdd;
}

Route HorovodReduction::between_gpu_and_host() const {
  const Cluster& cluster = process_.request().cluster;
  const auto [node, gpu] = process_.request().placement.ranks.front();
  return cluster.route(cluster.cpu_of_gpu(node, gpu), cluster.gpu(node, gpu));
}

TaskId HorovodReduction::copy_by_host(const Route& route, Bytes share, LabelId label) {
  return process_.transfer(thread_.queue, route, share * kPageableSlowdown, Account::exposed_communication,
                           label, {});
}

// MPI runs on the background thread, which is occupied until the ring ends.
TaskId HorovodReduction::all_reduce_between_nodes(Bytes share) {
  Task task;
  task.kind = TaskKind::copy;
  task.account = static_cast<std::uint8_t>(Account::exposed_communication);
  task.queue = thread_.queue;
  task.duration = latency_between_nodes(share);
  task.pattern = between_nodes_;
  task.traffic = share;
  task.label = mpi_label_;
  return process_.graph().add(task);
}

// The thread waits for the reduce-scatter and is occupied until its share is back on the GPU; the all-gather
// follows on the stream.
TaskId HorovodReduction::over_cpus(Bytes size, std::span<const TaskId> after) {
  const Bytes share{size.count / settings_.ranks_per_node};
  const TaskId scattered = process_.collective(
      {thread_, CollectiveOp::reduce_scatter, size, scatter_label_, kNone, after, Group::node});
  process_.host_for(thread_, {}, Account::exposed_communication,
                    {{scattered, process_.host_costs().sync_wake}});
  const Route route = between_gpu_and_host();
  copy_by_host(route, share, copy_label_);
  all_reduce_between_nodes(share);
  const TaskId back = copy_by_host(route, share, copy_label_);
  return process_.collective(
      {thread_, CollectiveOp::all_gather, size, gather_label_, kNone, std::span(&back, 1), Group::node});
}

TaskId HorovodReduction::on_torus(Bytes size, LabelId label, std::span<const TaskId> after) {
  const Bytes share{size.count / settings_.ranks_per_node};
  const TaskId scattered = process_.collective(
      {thread_, CollectiveOp::reduce_scatter, size, scatter_label_, kNone, after, Group::node});
  const TaskId reduced = process_.collective(
      {thread_, CollectiveOp::all_reduce, share, label, kNone, std::span(&scattered, 1), Group::across});
  return process_.collective(
      {thread_, CollectiveOp::all_gather, size, gather_label_, kNone, std::span(&reduced, 1), Group::node});
}

TaskId HorovodReduction::reduce(Bytes size, LabelId label, std::span<const TaskId> after) {
  switch (settings_.levels) {
    case HorovodLevels::hierarchical:
      return over_cpus(size, after);
    case HorovodLevels::torus:
      return on_torus(size, label, after);
    case HorovodLevels::plain:
      break;
  }
  return process_.collective({thread_, CollectiveOp::all_reduce, size, label, kNone, after});
}

// An estimate on an idle machine, for the clock of the rehearsal.
Time HorovodReduction::held(Bytes size) const {
  const Time call = process_.on_this_host(process_.host_costs().collective_call);
  if (settings_.levels == HorovodLevels::plain) return call;
  if (settings_.levels == HorovodLevels::torus) return call * kTorusCalls;
  const Bytes share{size.count / settings_.ranks_per_node};
  const Route route = between_gpu_and_host();
  const Time copies = (route.latency + share * kPageableSlowdown / route.bandwidth) * 2;
  const Time scatter =
      process_.communicator(Group::node).plan(CollectiveOp::reduce_scatter, size, false).alone;
  const Time between = latency_between_nodes(share) +
                       scaled(share, sent_per_byte() * settings_.ranks_per_node) / slowest_between_nodes_;
  return call * kHierarchicalCalls + scatter + process_.host_costs().sync_wake + copies + between;
}

}  // namespace foretrain
