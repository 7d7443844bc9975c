// A message is two tasks: software and copies on its connection, one message after the other, then the bytes on the links, which it
// shares with all other messages. The pattern of a message holds the flows of all workers, so the server's NIC carries what it must.
#include "sim/strategy/server_network.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/strategy/sums_over_replicas.hpp"

namespace foretrain {

namespace {

constexpr Time kSlowestRdma = Time{10'000'000};  ///< 10 us: no TCP stack answers as fast, no RDMA link of the catalog is as slow
constexpr int kServerThreads = 4;                ///< BYTEPS_SERVER_ENGINE_THREAD; four cores also saturate a socket's memory

/// The first rank of every node of the job.
std::vector<int> first_ranks_of(const Placement& placement) {
  std::vector<int> first;
  int node = -1;
  for (int rank = 0; rank < placement.size(); ++rank) {
    const int on = placement.ranks[static_cast<std::size_t>(rank)].node;
    if (on != node) first.push_back(rank);
    node = on;
  }
  return first;
}

}  // namespace

ServerTransport grpc_server_transport() {
  const Transport grpc = grpc_transport();
  return {"gRPC", grpc.message_overhead, grpc.stream_rate, grpc.wire_efficiency};
}

ServerTransport ps_lite_transport(const LinkType& link) {
  if (link.latency < kSlowestRdma) return {"ps-lite over RDMA", microseconds(10), {}, 0.97};
  return {"ps-lite over TCP", microseconds(50), {3e9}, 0.97};
}

ByteRate host_sum_rate(const Host& host) {
  return host.memory_bandwidth * (2.0 * std::min(kServerThreads, std::max(1, host.cores)));  // a copy reads and writes
}

ServerNetwork::ServerNetwork(Process& process, int servers, ServerTransport transport) : process_(process), transport_(transport) {
  const PlanRequest& request = process.request();
  const std::vector<int> first_ranks = first_ranks_of(request.placement);
  workers_ = static_cast<int>(first_ranks.size());
  const TransportWays ways(request.cluster, request.placement, DataPlace::host_memory);
  TaskGraph& graph = process.graph();
  for (std::size_t s = 0; s < static_cast<std::size_t>(servers); ++s) {
    server_pools_.push_back(graph.add_pool(fmt::format("server {}", s), 1));
    for (const bool push : {true, false}) {
      const PatternId pattern = workers_ == 1 ? kNone : graph.add_pattern(flows(ways, first_ranks, s, push));
      const PoolId pool = graph.add_pool(fmt::format("connection {} server {}", push ? "to" : "from", s), 1);
      (push ? push_channels_ : pull_channels_).push_back({pool, pattern});
    }
  }
}

std::vector<PatternFlow> ServerNetwork::flows(const TransportWays& ways, const std::vector<int>& first_ranks, std::size_t server,
                                              bool push) {
  std::vector<PatternFlow> flows;
  const int home = first_ranks[server % first_ranks.size()];
  for (const int worker : first_ranks) {
    if (worker == home) continue;
    TransportWay way = push ? ways.way(worker, home) : ways.way(home, worker);
    latency_ = std::max(latency_, way.latency);
    flows.push_back({std::move(way.links), 1 / transport_.efficiency});
  }
  return flows;
}

TaskId ServerNetwork::send(QueueId queue, const Channel& channel, Bytes bytes, LabelId label, std::span<const Dependency> after) {
  TaskGraph& graph = process_.graph();
  Task message;
  message.account = static_cast<std::uint8_t>(Account::exposed_communication);
  message.queue = queue;
  message.label = label;
  if (transport_.stream.per_second > 0) {
    Task copies = message;
    copies.kind = TaskKind::host;
    copies.pool = channel.pool;
    copies.duration = bytes / transport_.stream;
    graph.add(copies, after);
    after = {};  // the queue keeps the order
  }
  message.kind = TaskKind::copy;
  message.duration = latency_ + transport_.message;
  message.pattern = channel.pattern;
  message.traffic = bytes;
  return graph.add(message, after);
}

TaskId ServerNetwork::push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after) {
  return send(queue, push_channels_[static_cast<std::size_t>(server)], bytes, label, after);
}

TaskId ServerNetwork::pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after) {
  return send(queue, pull_channels_[static_cast<std::size_t>(server)], bytes, label, after);
}

TaskId ServerNetwork::work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after) {
  Task task;
  task.kind = TaskKind::host;
  task.account = static_cast<std::uint8_t>(Account::optimizer);
  task.queue = queue;
  task.pool = server_pools_[static_cast<std::size_t>(server)];
  task.duration = traffic / host_sum_rate(process_.host_cpu());
  task.label = label;
  return process_.graph().add(task, after);
}

}  // namespace foretrain
