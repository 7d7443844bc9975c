// Messages with servers. A message is up to three tasks: copies on its connection, one message after the
// other; software and latency; the bytes on the links, which it shares with the messages of other
// connections.
#include "sim/strategy/servers/server_network.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

/// Latency that separates RDMA from TCP: 10 us. No TCP stack answers as fast, and no RDMA link of the catalog
/// is as slow.
constexpr Time kSlowestRdma = Time{10'000'000};
/// Threads of a server: BYTEPS_SERVER_ENGINE_THREAD. Four cores also saturate a socket's memory.
constexpr int kServerThreads = 4;

/// Returns the first rank of each node. Ranks of a node are consecutive.
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

/// Servers are in turn on the machines.
int busiest_machine(const std::vector<double>& held, int machines) {
  std::vector<double> of_machines(static_cast<std::size_t>(machines), 0);
  for (std::size_t s = 0; s < held.size(); ++s) of_machines[s % of_machines.size()] += held[s];
  return static_cast<int>(std::max_element(of_machines.begin(), of_machines.end()) - of_machines.begin());
}

/// Assumed values (docs/models/replicated.md): the data part of the wire's bytes, and the rate of one
/// TCP stream as in gloo_tcp.toml.
constexpr double kPsLiteWire = 0.97;
constexpr ByteRate kPsLiteTcpStream{3e9};

}  // namespace

ServerTransport grpc_server_transport(const CallCosts& calls) {
  return {"gRPC", calls.grpc_message, kGrpcStream, kGrpcWire, false};
}

ServerTransport ps_lite_transport(const LinkType& link, const CallCosts& calls) {
  if (link.latency < kSlowestRdma) return {"ps-lite over RDMA", calls.rdma_message, {}, kPsLiteWire, true};
  return {"ps-lite over TCP", calls.tcp_message, kPsLiteTcpStream, kPsLiteWire, true};
}

ByteRate host_sum_rate(const Host& host) {
  return host.memory_bandwidth *
         // A copy reads and writes, hence the factor 2.
         (2.0 * std::min(kServerThreads, std::max(1, host.cores)));
}

ServerNetwork::ServerNetwork(Process& process, int servers, const std::vector<Shard>& shards,
                             ServerTransport transport, ServerMachines machines)
    : process_(process),
      servers_(servers),
      transport_(transport),
      machines_(machines),
      ways_(process.request().cluster, process.request().placement, DataPlace::host_memory),
      first_ranks_(first_ranks_of(process.request().placement)),
      held_(elements_of_servers(shards, servers)),
      busiest_(busiest_machine(held_, machines == ServerMachines::own ? servers : workers())) {}

int ServerNetwork::node_of(int server) const {
  return (server % workers() + workers() - busiest_) % workers();
}

/// The links at the server's end of a route: from its NIC's last link on when it receives, up to the first
/// one when it sends.
std::vector<LinkId> ServerNetwork::near_server(const TransportRoute& way, bool push) const {
  const ClusterLinks& links = process_.request().cluster.links();
  const auto is_network = [&](LinkId id) { return links[id].kind == LinkKind::network; };
  if (push)
    return {std::find_if(way.links.rbegin(), way.links.rend(), is_network).base() - 1, way.links.end()};
  return {way.links.begin(), std::find_if(way.links.begin(), way.links.end(), is_network) + 1};
}

/// Flows of one server. The first node is one of the workers unless the server is on it.
std::vector<PatternFlow> ServerNetwork::flows(int server, bool push) {
  const int node = node_of(server), other = node == 0 ? 1 : 0;
  const int here = first_ranks_[static_cast<std::size_t>(node)],
            there = first_ranks_[static_cast<std::size_t>(other)];
  const TransportRoute way = push ? ways_.way(there, here) : ways_.way(here, there);
  latency_ = std::max(latency_, way.latency);
  const double bytes = 1 / transport_.efficiency, others = workers() - (node == 0 ? 1 : 2);
  std::vector<PatternFlow> flows;
  if (others > 0) flows.push_back({near_server(way, push), others * bytes});
  if (node != 0) flows.push_back({way.links, bytes});
  return flows;
}

/// Flows of a tensor that is cut over all servers. The first node sends to all others, and receives from all
/// others for its own servers.
std::vector<PatternFlow> ServerNetwork::flows_of_all(bool push) {
  const TransportRoute out = ways_.way(first_ranks_[0], first_ranks_[1]),
                       in = ways_.way(first_ranks_[1], first_ranks_[0]);
  latency_ = std::max({latency_, out.latency, in.latency});
  const double own = (servers_ + workers() - 1) / workers(), share = own / servers_ / transport_.efficiency;
  const double elsewhere = (servers_ - own) / servers_ / transport_.efficiency;
  std::vector<PatternFlow> flows{{near_server(push ? in : out, push), (workers() - 1) * share}};
  if (elsewhere > 0) flows.push_back({near_server(push ? out : in, !push), elsewhere});
  return flows;
}

/// Servers are in turn on the nodes other than the first.
ServerNetwork::StandIn ServerNetwork::stand_in(int server) const {
  const int nodes = workers() - 1, first = server % nodes;
  double most = 0, all = 0;
  int sharing = 0;
  for (int other = first; other < servers_; other += nodes, ++sharing) {
    most = std::max(most, held_[static_cast<std::size_t>(other)]);
    all += held_[static_cast<std::size_t>(other)];
  }
  return {1 + first, sharing, workers() * (all > 0 ? most / all : 1.0 / sharing)};
}

/// Flows to a dedicated server: the first worker's bytes up to the server's machine, and there those of all
/// workers.
std::vector<PatternFlow> ServerNetwork::flows_to_own_machine(int server, bool push) {
  const bool every = server == kEveryServer;
  const StandIn at = stand_in(every ? busiest_ : server);
  const int here = first_ranks_[0], there = first_ranks_[static_cast<std::size_t>(at.node)];
  const TransportRoute way = push ? ways_.way(here, there) : ways_.way(there, here);
  latency_ = std::max(latency_, way.latency);
  const std::vector<LinkId> servers_end = near_server(way, push);
  const auto end = static_cast<std::ptrdiff_t>(servers_end.size());
  std::vector<LinkId> workers_end(way.links.begin() + (push ? 0 : end), way.links.end() - (push ? end : 0));
  const double bytes = 1 / transport_.efficiency,
               part = every ? static_cast<double>(at.servers) / servers_ : 1;
  return {{std::move(workers_end), bytes}, {servers_end, at.weight * part * bytes}};
}

std::vector<PatternFlow> ServerNetwork::flows_of(int server, bool push) {
  if (machines_ == ServerMachines::own) return flows_to_own_machine(server, push);
  return server == kEveryServer ? flows_of_all(push) : flows(server, push);
}

ServerNetwork::Connection ServerNetwork::connect(const std::string& name, int server, bool push) {
  TaskGraph& graph = process_.graph();
  Connection made;
  made.copies = graph.add_pool("connection " + name, 1);
  if (transport_.in_order) made.wire = graph.add_pool("messages " + name, 1);
  if (workers() > 1) made.pattern = graph.add_pattern(flows_of(server, push));
  return made;
}

ServerNetwork::Channel ServerNetwork::make_channel(int server) {
  const std::string name = server == kEveryServer ? "all servers" : fmt::format("server {}", server);
  Channel made{connect("to " + name, server, true), connect("from " + name, server, false), kNone};
  // The busiest server's CPU stands for all of them.
  made.cpu = server == kEveryServer ? channel(busiest_ % servers_).cpu : process_.graph().add_pool(name, 1);
  return made;
}

const ServerNetwork::Channel& ServerNetwork::channel(int server) {
  const auto known = channels_.find(server);
  return known != channels_.end() ? known->second
                                  : channels_.emplace(server, make_channel(server)).first->second;
}

/// `per_connection`: bytes of one worker's connection to one server, which its software copies.
TaskId ServerNetwork::send(QueueId queue, const Connection& connection, Bytes bytes, Bytes per_connection,
                           LabelId label, std::span<const Dependency> after) {
  TaskGraph& graph = process_.graph();
  Task message;
  message.account = static_cast<std::uint8_t>(Account::exposed_communication);
  message.queue = queue;
  message.label = label;
  Task before = message;
  before.kind = TaskKind::host;
  const auto add_before = [&](Time duration, PoolId pool) {
    before.duration = duration, before.pool = pool;
    graph.add(before, after);
    // The queue keeps the order of the following tasks.
    after = {};
  };
  if (transport_.stream.per_second > 0) add_before(per_connection / transport_.stream, connection.copies);
  message.duration = latency_ + transport_.message;
  // In order, the latency precedes the wire, so that a message does not hold it while on its way.
  if (transport_.in_order) add_before(message.duration, kNone), message.duration = {};
  message.kind = TaskKind::copy;
  message.pool = connection.wire;
  message.pattern = connection.pattern;
  message.traffic = bytes;
  return graph.add(message, after);
}

TaskId ServerNetwork::push(QueueId queue, int server, Bytes bytes, LabelId label,
                           std::span<const Dependency> after) {
  const Channel& way = channel(server);
  return send(queue, way.to, bytes, part(server, bytes), label, after);
}

TaskId ServerNetwork::pull(QueueId queue, int server, Bytes bytes, LabelId label,
                           std::span<const Dependency> after) {
  const Channel& way = channel(server);
  return send(queue, way.from, bytes, part(server, bytes), label, after);
}

TaskId ServerNetwork::work(QueueId queue, int server, Bytes traffic, LabelId label,
                           std::span<const Dependency> after, Account account) {
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
