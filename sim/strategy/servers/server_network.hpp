// Messages between the nodes of a job and its parameter servers, and the work of the servers' CPUs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collective/transport_routes.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/strategy/servers/server_layout.hpp"
#include "sim/strategy/servers/server_options.hpp"

namespace foretrain {

/// Costs of one message between two processes besides the links (docs/models/replicated.md has the
/// sources).
struct ServerTransport {
  std::string_view name;
  /// Software time of both ends for one message, besides the link's latency.
  Time message{};
  /// Largest rate of one connection in bytes per second; 0: no limit.
  ByteRate stream{};
  /// Usable fraction of the links' bandwidth.
  double efficiency = 1;
  /// A connection sends one message after the other. Otherwise messages are cut into frames that take turns
  /// (HTTP/2).
  bool in_order = false;
};
/// Returns TensorFlow's gRPC over TCP, with figures of topologies/transports/grpc.toml.
ServerTransport grpc_server_transport(const CallCosts& calls = {});
/// Returns ps-lite, which MXNet and BytePS use: RDMA if the link between nodes has it, else ZeroMQ over TCP.
ServerTransport ps_lite_transport(const LinkType& link, const CallCosts& calls = {});

/// Returns the bytes of memory per second at which the CPU of a server or worker sums tensors and updates
/// variables.
ByteRate host_sum_rate(const Host& host);
/// Passes over memory for adding one tensor to another: read both, write one.
inline constexpr std::int64_t kSumPasses = 3;

/// Machines of the servers: as processes on the job's nodes, in turn, or each on a machine of its own that is
/// like a node of the job.
enum class ServerMachines : std::uint8_t { of_workers, own };
inline ServerMachines machines_of(const ServerOptions& options) {
  return options.dedicated_servers ? ServerMachines::own : ServerMachines::of_workers;
}

/// Messages of one worker process per node with the servers. The first node stands for the busiest one: if
/// servers run on the workers' nodes it has the fullest server. Every method adds tasks to the given queue,
/// for the messages of all workers, which send and receive at the same time.
///
/// A message loads the resources that limit it (two flows, for any number of workers). The server's NIC
/// carries the bytes of all workers on other nodes; the route between the first node and the server carries
/// the first node's own bytes. Links inside the fabric are loaded by the first node alone.
///
/// Dedicated server machines are not part of the cluster. As the first worker stands for all, the NICs of the
/// other workers' nodes carry nothing and stand for those of the servers. If there are more servers than such
/// nodes, several share one, scaled so that the fullest of them takes as long as by itself.
class ServerNetwork {
 public:
  /// The process must outlive this object. `shards`: everything that will be sent; it decides which machine
  /// is the busiest.
  ServerNetwork(Process& process, int servers, const std::vector<Shard>& shards, ServerTransport transport,
                ServerMachines machines = ServerMachines::of_workers);

  int servers() const { return servers_; }
  int workers() const { return static_cast<int>(first_ranks_.size()); }
  const ServerTransport& transport() const { return transport_; }

  /// Add every worker's message of `bytes` to the server (or a part to each server), or from there back to
  /// every worker. Return the task at whose end all have arrived.
  TaskId push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  TaskId pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  /// Adds work of the server's CPU that moves `traffic` bytes of memory. A server does one piece of work at a
  /// time, on all its threads.
  TaskId work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after,
              Account account = Account::optimizer);
  /// Returns the time of one small message from every worker and back. Requires that something was sent,
  /// because latency is known only then.
  Time round_trip() const { return (latency_ + transport_.message) * 2; }

 private:
  /// One direction between a worker and a server. Its software copies one message after the other, and if the
  /// transport is in order, it also sends them one after the other.
  struct Connection {
    PoolId copies = kNone, wire = kNone;
    PatternId pattern = kNone;
  };
  /// The connections between the workers and one server, or all, and the server's CPU.
  struct Channel {
    Connection to, from;
    PoolId cpu = kNone;
  };
  Channel make_channel(int server);
  /// Returns the channel of a server; it is made at the first use.
  const Channel& channel(int server);
  Connection connect(const std::string& name, int server, bool push);
  TaskId send(QueueId queue, const Connection& connection, Bytes bytes, Bytes per_connection, LabelId label,
              std::span<const Dependency> after);
  /// Returns the flows of a message, by the machines of the servers.
  std::vector<PatternFlow> flows_of(int server, bool push);
  std::vector<PatternFlow> flows(int server, bool push);
  std::vector<PatternFlow> flows_of_all(bool push);
  /// A node whose NIC represents that of a server's own machine.
  struct StandIn {
    int node;
    /// Number of servers that it represents.
    int servers;
    /// Bytes over it per byte that every worker exchanges with one of them.
    double weight;
  };
  StandIn stand_in(int server) const;
  std::vector<PatternFlow> flows_to_own_machine(int server, bool push);
  /// Returns the part of a route that belongs to the server's machine.
  std::vector<LinkId> near_server(const TransportRoute& way, bool push) const;
  /// Returns the node of a server; the busiest machine is node 0.
  int node_of(int server) const;
  /// Returns the bytes of one server's part of a message.
  Bytes part(int server, Bytes bytes) const {
    return server == kEveryServer ? Bytes{bytes.count / servers_} : bytes;
  }

  Process& process_;
  int servers_;
  ServerTransport transport_;
  ServerMachines machines_;
  TransportRoutes ways_;
  /// The first rank of every node.
  std::vector<int> first_ranks_;
  /// Elements of each server.
  std::vector<double> held_;
  /// Machine with the most elements. On the workers' nodes it is the number before that machine is made the
  /// first.
  int busiest_ = 0;
  Time latency_{};
  std::map<int, Channel> channels_;
};

}  // namespace foretrain
