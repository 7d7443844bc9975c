// A message is two tasks: software and copies on its connection, one message after the other, then the bytes on the links, which it
// shares with all other messages.
#include "sim/strategy/server_network.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

constexpr Time kSlowestRdma = Time{10'000'000};  ///< 10 us: no TCP stack answers as fast, no RDMA link of the catalog is as slow
constexpr int kServerThreads = 4;                ///< BYTEPS_SERVER_ENGINE_THREAD; four cores also saturate a socket's memory

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

int busiest_node(const std::vector<double>& held, int nodes) {
  std::vector<double> of_nodes(static_cast<std::size_t>(nodes), 0);
  for (std::size_t s = 0; s < held.size(); ++s) of_nodes[s % of_nodes.size()] += held[s];
  return static_cast<int>(std::max_element(of_nodes.begin(), of_nodes.end()) - of_nodes.begin());
}

}  // namespace

ServerTransport grpc_server_transport() { return {"gRPC", microseconds(150), {1.5e9}, 0.95}; }

ServerTransport ps_lite_transport(const LinkType& link) {
  if (link.latency < kSlowestRdma) return {"ps-lite over RDMA", microseconds(10), {}, 0.97};
  return {"ps-lite over TCP", microseconds(50), {3e9}, 0.97};
}

ByteRate host_sum_rate(const Host& host) {
  return host.memory_bandwidth * (2.0 * std::min(kServerThreads, std::max(1, host.cores)));  // a copy reads and writes
}

ServerNetwork::ServerNetwork(Process& process, int servers, const std::vector<Shard>& shards, ServerTransport transport)
    : process_(process),
      servers_(servers),
      transport_(transport),
      ways_(process.request().cluster, process.request().placement, DataPlace::host_memory),
      first_ranks_(first_ranks_of(process.request().placement)),
      busiest_(busiest_node(elements_of_servers(shards, servers), workers())) {}

int ServerNetwork::node_of(int server) const { return (server % workers() + workers() - busiest_) % workers(); }

/// The links at the server's end of a way: those from its NIC's last link on when it receives, up to the first one when it sends.
std::vector<LinkId> ServerNetwork::near_server(const TransportWay& way, bool push) const {
  const ClusterLinks& links = process_.request().cluster.links();
  const auto is_network = [&](LinkId id) { return links[id].kind == LinkKind::network; };
  if (push) return {std::find_if(way.links.rbegin(), way.links.rend(), is_network).base() - 1, way.links.end()};
  return {way.links.begin(), std::find_if(way.links.begin(), way.links.end(), is_network) + 1};
}

/// The first node is one of the workers unless the server is on it.
std::vector<PatternFlow> ServerNetwork::flows(int server, bool push) {
  const int node = node_of(server), other = node == 0 ? 1 : 0;
  const int here = first_ranks_[static_cast<std::size_t>(node)], there = first_ranks_[static_cast<std::size_t>(other)];
  const TransportWay way = push ? ways_.way(there, here) : ways_.way(here, there);
  latency_ = std::max(latency_, way.latency);
  const double bytes = 1 / transport_.efficiency, others = workers() - (node == 0 ? 1 : 2);
  std::vector<PatternFlow> flows;
  if (others > 0) flows.push_back({near_server(way, push), others * bytes});
  if (node != 0) flows.push_back({way.links, bytes});
  return flows;
}

/// A tensor cut over all servers: the first node sends to all others, and receives from all others for the servers it has itself.
std::vector<PatternFlow> ServerNetwork::flows_of_all(bool push) {
  const TransportWay out = ways_.way(first_ranks_[0], first_ranks_[1]), in = ways_.way(first_ranks_[1], first_ranks_[0]);
  latency_ = std::max({latency_, out.latency, in.latency});
  const double own = (servers_ + workers() - 1) / workers(), share = own / servers_ / transport_.efficiency;
  const double elsewhere = (servers_ - own) / servers_ / transport_.efficiency;
  std::vector<PatternFlow> flows{{near_server(push ? in : out, push), (workers() - 1) * share}};
  if (elsewhere > 0) flows.push_back({near_server(push ? out : in, !push), elsewhere});
  return flows;
}

ServerNetwork::Channel ServerNetwork::make_channel(int server) {
  TaskGraph& graph = process_.graph();
  const std::string name = server == kEveryServer ? "all servers" : fmt::format("server {}", server);
  Channel made;
  made.to = graph.add_pool("connection to " + name, 1), made.from = graph.add_pool("connection from " + name, 1);
  made.cpu = server == kEveryServer ? channel(busiest_ % servers_).cpu : graph.add_pool(name, 1);
  if (workers() == 1) return made;
  made.push = graph.add_pattern(server == kEveryServer ? flows_of_all(true) : flows(server, true));
  made.pull = graph.add_pattern(server == kEveryServer ? flows_of_all(false) : flows(server, false));
  return made;
}

const ServerNetwork::Channel& ServerNetwork::channel(int server) {
  const auto known = channels_.find(server);
  return known != channels_.end() ? known->second : channels_.emplace(server, make_channel(server)).first->second;
}

TaskId ServerNetwork::send(QueueId queue, PoolId connection, PatternId pattern, Bytes bytes, Bytes per_connection, LabelId label,
                           std::span<const Dependency> after) {
  TaskGraph& graph = process_.graph();
  Task message;
  message.account = static_cast<std::uint8_t>(Account::exposed_communication);
  message.queue = queue;
  message.label = label;
  if (transport_.stream.per_second > 0) {
    Task copies = message;
    copies.kind = TaskKind::host;
    copies.pool = connection;
    copies.duration = per_connection / transport_.stream;
    graph.add(copies, after);
    after = {};  // the queue keeps the order
  }
  message.kind = TaskKind::copy;
  message.duration = latency_ + transport_.message;
  message.pattern = pattern;
  message.traffic = bytes;
  return graph.add(message, after);
}

TaskId ServerNetwork::push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after) {
  const Channel& way = channel(server);
  return send(queue, way.to, way.push, bytes, part(server, bytes), label, after);
}

TaskId ServerNetwork::pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after) {
  const Channel& way = channel(server);
  return send(queue, way.from, way.pull, bytes, part(server, bytes), label, after);
}

TaskId ServerNetwork::work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after, Account account) {
  Task task;
  task.kind = TaskKind::host;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = queue;
  task.pool = channel(server).cpu;
  task.duration = part(server, traffic) / host_sum_rate(process_.host_cpu());
  task.label = label;
  return process_.graph().add(task, after);
}

}  // namespace foretrain
