// Messages between the nodes of a job and its parameter servers, and the work of the servers' CPUs.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "sim/collective/transport_ways.hpp"
#include "sim/strategy/process.hpp"
#include "sim/strategy/server_layout.hpp"

namespace foretrain {

/// What one message between two processes costs besides the links (docs/models/parameter_server.md has the sources).
struct ServerTransport {
  std::string_view name;
  Time message{};         ///< software of both ends for one message, beyond the link's latency
  ByteRate stream{};      ///< the most one connection carries; 0: no limit
  double efficiency = 1;  ///< of the links' bandwidth
};
/// TensorFlow's gRPC over TCP: figures of topologies/transports/grpc.toml.
ServerTransport grpc_server_transport();
/// ps-lite, which MXNet and BytePS use: RDMA where the link between nodes has it, else ZeroMQ over TCP.
ServerTransport ps_lite_transport(const LinkType& link);

/// Bytes of memory per second that the CPU of a server, or of a worker, sums tensors and updates variables with.
ByteRate host_sum_rate(const Host& host);
/// Passes over memory of adding one tensor to another: read both, write one.
inline constexpr std::int64_t kSumPasses = 3;

/// Servers are processes on the job's nodes, in turn; one worker process per node exchanges messages with them. The first node stands for
/// the busiest: it has the fullest server. Every method adds tasks to the given queue, for the messages of all workers, which send and
/// receive at the same time.
///
/// A message loads what limits it (two flows, however many workers): the server's NIC with the bytes of all workers on other nodes, and
/// the whole way between the first node and the server with its own. Links inside the fabric are loaded by the first node alone.
class ServerNetwork {
 public:
  /// Keeps the process. `shards`: all that will be sent.
  ServerNetwork(Process& process, int servers, const std::vector<Shard>& shards, ServerTransport transport);

  int servers() const { return servers_; }
  int workers() const { return static_cast<int>(first_ranks_.size()); }
  const ServerTransport& transport() const { return transport_; }

  /// Every worker's message of `bytes` to the server (or a part to each server); then from there back to every worker. Returns when all
  /// have arrived.
  TaskId push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  TaskId pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  /// Work of the server's CPU that moves `traffic` bytes of memory; one piece of work at a time, on all its threads.
  TaskId work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after,
              Account account = Account::optimizer);
  /// One small message from every worker and back. Requires that something was sent.
  Time round_trip() const { return (latency_ + transport_.message) * 2; }

 private:
  /// Between the workers and one server, or all.
  struct Channel {
    PoolId to = kNone, from = kNone;  ///< connections: each copies one message after the other
    PatternId push = kNone, pull = kNone;
    PoolId cpu = kNone;
  };
  Channel make_channel(int server);
  const Channel& channel(int server);
  TaskId send(QueueId queue, PoolId connection, PatternId pattern, Bytes bytes, Bytes per_connection, LabelId label,
              std::span<const Dependency> after);
  std::vector<PatternFlow> flows(int server, bool push);
  std::vector<PatternFlow> flows_of_all(bool push);
  std::vector<LinkId> near_server(const TransportWay& way, bool push) const;
  int node_of(int server) const;
  Bytes part(int server, Bytes bytes) const { return server == kEveryServer ? Bytes{bytes.count / servers_} : bytes; }

  Process& process_;
  int servers_;
  ServerTransport transport_;
  TransportWays ways_;
  std::vector<int> first_ranks_;  ///< of every node
  int busiest_ = 0;               ///< node with the most elements, before it is made the first
  Time latency_{};
  std::map<int, Channel> channels_;
};

}  // namespace foretrain
