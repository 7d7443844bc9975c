// Messages between the nodes of a job and its parameter servers, and the work of the servers' CPUs.
#pragma once

#include <string_view>
#include <vector>

#include "sim/collective/transport_ways.hpp"
#include "sim/strategy/process.hpp"

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
/// Memory traffic of adding one fp32 element to another: read both, write one.
inline constexpr std::int64_t kSumBytes = 12;

/// Servers are processes on the job's nodes, server s on node s modulo nodes; one worker process per node exchanges messages with them.
/// A message stands for those of all workers, which send and receive at the same time. Every method adds tasks to the given queue.
class ServerNetwork {
 public:
  /// Keeps the process.
  ServerNetwork(Process& process, int servers, ServerTransport transport);

  int servers() const { return static_cast<int>(push_channels_.size()); }
  int workers() const { return workers_; }
  const ServerTransport& transport() const { return transport_; }

  /// Every worker's message of `bytes` to the server; then from there back to every worker. Returns when all have arrived.
  TaskId push(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  TaskId pull(QueueId queue, int server, Bytes bytes, LabelId label, std::span<const Dependency> after);
  /// Work of the server's CPU that moves `traffic` bytes of memory; one piece of work at a time, on all its threads.
  TaskId work(QueueId queue, int server, Bytes traffic, LabelId label, std::span<const Dependency> after);
  /// One small message from every worker and back.
  Time round_trip() const { return (latency_ + transport_.message) * 2; }

 private:
  struct Channel {
    PoolId pool;        ///< one connection: a message is copied in and out after the other
    PatternId pattern;  ///< kNone: one node
  };
  TaskId send(QueueId queue, const Channel& channel, Bytes bytes, LabelId label, std::span<const Dependency> after);
  std::vector<PatternFlow> flows(const TransportWays& ways, const std::vector<int>& first_ranks, std::size_t server, bool push);

  Process& process_;
  ServerTransport transport_;
  int workers_;
  Time latency_{};
  std::vector<Channel> push_channels_, pull_channels_;
  std::vector<PoolId> server_pools_;
};

}  // namespace foretrain
