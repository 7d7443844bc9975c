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

/// What one message between two processes costs besides the links (docs/models/parameter_server.md has the
/// sources).
struct ServerTransport {
  std::string_view name;
  Time message{};         ///< software of both ends for one message, beyond the link's latency
  ByteRate stream{};      ///< the most one connection carries; 0: no limit
  double efficiency = 1;  ///< of the links' bandwidth
  /// A connection sends one message after the other; else messages are cut into frames that take turns
  /// (HTTP/2)
  bool in_order = false;
};
/// TensorFlow's gRPC over TCP: figures of topologies/transports/grpc.toml.
ServerTransport grpc_server_transport(const CallCosts& calls = {});
/// ps-lite, which MXNet and BytePS use: RDMA where the link between nodes has it, else ZeroMQ over TCP.
ServerTransport ps_lite_transport(const LinkType& link, const CallCosts& calls = {});

/// Bytes of memory per second that the CPU of a server, or of a worker, sums tensors and updates variables
/// with.
ByteRate host_sum_rate(const Host& host);
/// Passes over memory of adding one tensor to another: read both, write one.
inline constexpr std::int64_t kSumPasses = 3;

/// Where servers run: as processes on the job's nodes, in turn, or each on a machine of its own that is like
/// a node of the job.
enum class ServerMachines : std::uint8_t { of_workers, own };
inline ServerMachines machines_of(const ServerOptions& options) {
  return options.dedicated_servers ? ServerMachines::own : ServerMachines::of_workers;
}

/// One worker process per node exchanges messages with the servers. The first node stands for the busiest: if
/// servers run on the workers' nodes it has the fullest one. Every method adds tasks to the given queue, for
/// the messages of all workers, which send and receive at the same time.
///
/// A message loads what limits it (two flows, however many workers): the server's NIC with the bytes of all
/// workers on other nodes, and the whole way between the first node and the server with its own. Links inside
/// the fabric are loaded by the first node alone.
///
/// Machines of the servers' own are not in the cluster. As the first worker stands for all, NICs of the other
/// workers' nodes carry nothing and stand for theirs. Where there are more servers than those nodes, several
/// share one, scaled so that the fullest of them takes as long as by itself.
class ServerNetwork {
 public:
  /// Keeps the process. `shards`: all that will be sent.
  ServerNetwork(Process& process, int servers, const std::vector<Shard>& shards, ServerTransport transport,
                ServerMachines machines = ServerMachines::of_workers);

  int servers() const { return servers_; }
  int workers() const { return static_cast<int>(first_ranks_.size()); }
  const ServerTransport& transport() const { return transport_; }

  /// Every worker's message of `bytes` to the server (or a part to each server); then from there back to
  /// every worker. Returns when all have arrived.
  TaskId push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  TaskId pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  /// Work of the server's CPU that moves `traffic` bytes of memory; one piece of work at a time, on all its
  /// threads.
  TaskId work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after,
              Account account = Account::optimizer);
  /// One small message from every worker and back. Requires that something was sent.
  Time round_trip() const { return (latency_ + transport_.message) * 2; }

 private:
  /// One direction between a worker and a server. It copies one message after the other, and if the transport
  /// is in order sends one after the other.
  struct Connection {
    PoolId copies = kNone, wire = kNone;
    PatternId pattern = kNone;
  };
  /// Between the workers and one server, or all.
  struct Channel {
    Connection to, from;
    PoolId cpu = kNone;
  };
  Channel make_channel(int server);
  const Channel& channel(int server);
  Connection connect(const std::string& name, int server, bool push);
  TaskId send(QueueId queue, const Connection& connection, Bytes bytes, Bytes per_connection, LabelId label,
              std::span<const Dependency> after);
  std::vector<PatternFlow> flows_of(int server, bool push);
  std::vector<PatternFlow> flows(int server, bool push);
  std::vector<PatternFlow> flows_of_all(bool push);
  /// The node whose NIC stands for that of a server's own machine.
  struct StandIn {
    int node;
    int servers;    ///< that it stands for
    double weight;  ///< bytes over it per byte that every worker exchanges with one of them
  };
  StandIn stand_in(int server) const;
  std::vector<PatternFlow> flows_to_own_machine(int server, bool push);
  std::vector<LinkId> near_server(const TransportRoute& way, bool push) const;
  int node_of(int server) const;
  Bytes part(int server, Bytes bytes) const {
    return server == kEveryServer ? Bytes{bytes.count / servers_} : bytes;
  }

  Process& process_;
  int servers_;
  ServerTransport transport_;
  ServerMachines machines_;
  TransportRoutes ways_;
  std::vector<int> first_ranks_;  ///< of every node
  std::vector<double> held_;      ///< elements per server
  int busiest_ = 0;  ///< machine with the most elements; of the workers' nodes: before it is made the first
  Time latency_{};
  std::map<int, Channel> channels_;
};

}  // namespace foretrain
