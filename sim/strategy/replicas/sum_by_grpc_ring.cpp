// Sums over gRPC. The ring's own time is that of an idle machine (sim/collective/transport_run.hpp); copies
// between GPUs and host memory are flows.
#include <memory>

#include "sim/collective/transport_run.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"

namespace foretrain {

namespace {

/// Concurrent copies between each local GPU and the memory of its CPU, as one pattern.
struct HostCopies {
  PatternId pattern = kNone;
  Time latency{};
};

/// `down` copies to host memory, `up` copies to the GPU.
enum class Direction : std::uint8_t { down, up };

HostCopies host_copies(Process& process, int gpus, Direction direction) {
  const Cluster& cluster = process.request().cluster;
  HostCopies copies;
  std::vector<PatternFlow> flows;
  for (int i = 0; i < gpus; ++i) {
    const auto [node, index] = process.request().placement.ranks[static_cast<std::size_t>(i)];
    const VertexId gpu = cluster.gpu(node, index), cpu = cluster.cpu_of_gpu(node, index);
    const Route route = direction == Direction::down ? cluster.route(gpu, cpu) : cluster.route(cpu, gpu);
    flows.push_back({route.links, 1});
    copies.latency = std::max(copies.latency, route.latency);
  }
  copies.pattern = process.graph().add_pattern(std::move(flows));
  return copies;
}

/// The ring of one process. Messages follow one another, because the ring's stages share the process's
/// channel.
class GrpcRing {
 public:
  GrpcRing(Process& process, const ReplicaThreads& threads)
      : process_(process),
        issuer_(threads.autograd),
        transport_(grpc_transport(process.calls())),
        job_(process.request().cluster, process.request().placement, transport_),
        down_(host_copies(process, threads.gpus, Direction::down)),
        up_(host_copies(process, threads.gpus, Direction::up)),
        queue_(process.graph().add_queue("gRPC ring")),
        staging_label_(process.graph().label("gradients through host memory")),
        ring_label_(process.graph().label("all_reduce ring over gRPC")) {}

  // Adds the copy down, the ring and the copy up of one message; returns the last.
  TaskId sum(Bytes size) {
    const TaskId call = process_.host(issuer_, process_.host_costs().node, Account::host);
    const TaskId in_memory = stage(down_, size, process_.last_kernel(), call);
    Task ring = task_of(TaskKind::collective,
                        job_.run(CollectiveOp::all_reduce, size, {}, Fidelity::analytic).time, ring_label_);
    return stage(up_, size, process_.graph().add(ring, {{in_memory, process_.host_costs().sync_wake}}), call);
  }

 private:
  Task task_of(TaskKind kind, Time duration, LabelId label) const {
    Task task;
    task.kind = kind;
    task.account = static_cast<std::uint8_t>(Account::exposed_communication);
    task.queue = queue_;
    task.duration = duration;
    task.label = label;
    return task;
  }

  // Adds a copy after `after`, and not before the call has launched it.
  TaskId stage(const HostCopies& copies, Bytes size, TaskId after, TaskId call) {
    Task copy = task_of(TaskKind::copy, copies.latency, staging_label_);
    copy.pattern = copies.pattern;
    copy.traffic = size;
    return process_.graph().add(copy, {{after}, {call, process_.host_costs().launch_latency}});
  }

  Process& process_;
  HostThread issuer_;
  Transport transport_;
  TransportRequest job_;
  HostCopies down_, up_;
  QueueId queue_;
  LabelId staging_label_, ring_label_;
};

}  // namespace

Transport grpc_transport(const CallCosts& calls) {
  Transport grpc;
  grpc.library = "grpc_ring";
  grpc.message_overhead = calls.grpc_message;
  grpc.header = {300};
  grpc.wire_efficiency = kGrpcWire;
  grpc.stream_rate = kGrpcStream;
  grpc.host_rate = {2e9};
  grpc.add_rate = {5e9};
  grpc.segment = {4 << 20};
  grpc.segments = 2;
  return grpc;
}

/// The returned function shares ownership of the ring.
SumOverReplicas sum_by_grpc_ring(Process& process, const ReplicaThreads& threads) {
  const auto ring = std::make_shared<GrpcRing>(process, threads);
  return [ring](Bytes size, std::size_t) { return ring->sum(size); };
}

}  // namespace foretrain
