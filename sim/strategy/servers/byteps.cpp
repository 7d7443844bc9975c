// BytePS. Every partition is a chain of stages on a queue of its own. Each stage serves one partition at a
// time (its thread in byteps/common/core_loops.cc waits for it), so partitions pass no other one but fill all
// stages at the same time.
//
// The throughput of a chain is that of its slowest stage; partitions are small so that the chain fills early.
#include "sim/strategy/servers/byteps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/servers/server_layout.hpp"
#include "sim/strategy/servers/server_network.hpp"
#include "sim/strategy/servers/server_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

/// Bytes of a memory page.
constexpr std::int64_t kPage = 4096;
/// Limits of BytePS's keys for one gradient, and of the simulation for all gradients.
constexpr std::int64_t kMostPartitionsOfOne = 65'536;
constexpr std::int64_t kMostPartitions = 200'000;

/// Returns the number of ranks on the first node.
int gpus_of_first_node(const Placement& placement) {
  const int node = placement.ranks.front().node;
  return static_cast<int>(std::count_if(placement.ranks.begin(), placement.ranks.end(),
                                        [&](const GpuPlace& r) { return r.node == node; }));
}

/// Throws InputError if a gradient is cut into too many partitions: a partition's key has 16 bits for its
/// number within the gradient.
void refuse_small_partitions(const PlanRequest& request, std::int64_t elements) {
  std::int64_t all = 0, most = 0;
  for (const Parameter& parameter : request.workload.model->parameters) {
    const std::int64_t partitions = (parameter.elements + elements - 1) / elements;
    all += partitions, most = std::max(most, partitions);
  }
  if (most <= kMostPartitionsOfOne && all <= kMostPartitions) return;
  throw InputError(
      fmt::format("strategy.partition_bytes = {} cuts the gradients into {} partitions, one of them into {}",
                  to_string(request.options<BytepsOptions>().partition_bytes), all, most),
      fmt::format("at most {}, and {} of one gradient; the default is 4,096,000 bytes", kMostPartitions,
                  kMostPartitionsOfOne));
}

/// Returns all partitions in the order of backward, with their servers.
std::vector<Shard> partitions_of(const PlanRequest& request, int gpus, std::int64_t wire_bytes) {
  const std::int64_t elements =
      partition_elements(request.options<BytepsOptions>().partition_bytes, gpus, wire_bytes);
  refuse_small_partitions(request, elements);
  return shards_of_gradients(*request.workload.model, elements, server_count(request));
}

/// Returns the bytes of one gradient element on the wire.
std::int64_t bytes_on_wire(const PlanRequest& request) {
  const bool halves = request.options<GradientOptions>().compression == Compression::fp16;
  return halves ? 2 : gradient_element_bytes(request.workload);
}

/// BytePS's work on the gradients of one process, for all of its node.
class PushPull {
 public:
  // The process must outlive this object.
  explicit PushPull(Process& process);
  // Called when a gradient was launched: converts it if gradients are compressed, then starts its partitions.
  void on_gradient(std::uint32_t parameter);
  /// Issues optimizer.synchronize(): the host waits for every tensor, then averages.
  void synchronize();
  void explain(Decisions& decisions) const;
  const std::vector<Shard>& partitions() const { return partitions_; }
  std::int64_t wire_bytes() const { return wire_bytes_; }

 private:
  // Queues, pools and copies of the stages, which all partitions share.
  struct Stages {
    // Streams of NCCL.
    QueueId reduces, broadcasts;
    // The thread that issues NCCL's kernels.
    HostThread thread;
    // Copy engines of the two directions.
    PoolId to_host, to_gpu;
    // Copies in which every GPU moves its share of a partition.
    PatternId out, in;
    Time latency{};
  };
  struct Labels {
    LabelId reduce, to_host, push, sum, pull, to_gpu, broadcast, average, cast;
  };
  Stages make_stages();
  Labels make_labels() const;
  // Adds all stages of one partition, after its gradient and the hook's call.
  void exchange(std::size_t partition, TaskId ready, TaskId call);
  TaskId nccl(CollectiveOp op, QueueId stream, std::size_t partition, LabelId label,
              std::initializer_list<TaskId> after);
  TaskId copy(QueueId queue, PatternId pattern, PoolId pool, Bytes bytes, LabelId label,
              std::span<const Dependency> after);
  // Adds the stages between nodes: copy, push, sum, pull, copy back.
  TaskId through_server(std::size_t partition, std::span<const Dependency> after);
  Bytes bytes_of(std::size_t partition) const { return {wire_bytes_ * partitions_[partition].elements}; }
  bool compresses() const { return wire_bytes_ < gradient_bytes_; }

  Process& process_;
  const ExpandedModel& model_;
  // GPUs of the node.
  int gpus_;
  std::int64_t gradient_bytes_, wire_bytes_;
  std::vector<Shard> partitions_;
  ServerNetwork network_;
  Labels labels_;
  Stages stages_;
  // Partitions of each parameter.
  std::vector<std::vector<std::size_t>> partitions_of_;
  // Queue of each partition.
  std::vector<QueueId> queues_;
  // Last tasks of this step's partitions.
  std::vector<TaskId> done_;
};

PushPull::PushPull(Process& process)
    : process_(process),
      model_(*process.request().workload.model),
      gpus_(gpus_of_first_node(process.request().placement)),
      gradient_bytes_(gradient_element_bytes(process.request().workload)),
      wire_bytes_(bytes_on_wire(process.request())),
      partitions_(partitions_of(process.request(), gpus_, wire_bytes_)),
      network_(process, server_count(process.request()), partitions_,
               ps_lite_transport(process.request().cluster.spec().fabric.link, process.calls()),
               machines_of(process.request().options<ServerOptions>())),
      labels_(make_labels()),
      stages_(make_stages()),
      partitions_of_(model_.parameters.size()) {
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    partitions_of_[partitions_[i].parameter].push_back(i);
    queues_.push_back(process.graph().add_queue(fmt::format("partition {}", i)));
  }
}

/// Returns the labels. With one node NCCL carries the gradients, else the messages to the servers do.
PushPull::Labels PushPull::make_labels() const {
  TaskGraph& graph = process_.graph();
  return {graph.label(network_.workers() == 1 ? "reduce of gradients in the node" : "sum in the node"),
          graph.label("copy to host memory"),
          graph.label("push of gradients"),
          graph.label("sum on the servers"),
          graph.label("pull of gradients"),
          graph.label("copy to the GPU"),
          graph.label("all_gather in the node"),
          graph.label("average"),
          graph.label("cast for the wire")};
}

/// Builds the shared stages. Each GPU copies its share between itself and the memory of its own CPU.
PushPull::Stages PushPull::make_stages() {
  TaskGraph& graph = process_.graph();
  Stages stages{graph.add_queue("NCCL stream of reduces"),
                graph.add_queue("NCCL stream of broadcasts"),
                process_.add_thread("BytePS thread"),
                graph.add_pool("copies to host memory", 1),
                graph.add_pool("copies from host memory", 1),
                kNone,
                kNone};
  const Cluster& cluster = process_.request().cluster;
  std::vector<PatternFlow> out, in;
  for (const auto [node, gpu] : process_.request().placement.ranks) {
    if (node != process_.place(0).node) continue;
    const VertexId device = cluster.gpu(node, gpu), host = cluster.cpu_of_gpu(node, gpu);
    const Route there = cluster.route(device, host), back = cluster.route(host, device);
    stages.latency = std::max({stages.latency, there.latency, back.latency});
    out.push_back({there.links, 1.0 / gpus_});
    in.push_back({back.links, 1.0 / gpus_});
  }
  stages.out = graph.add_pattern(std::move(out)), stages.in = graph.add_pattern(std::move(in));
  return stages;
}

void PushPull::on_gradient(std::uint32_t parameter) {
  const HostThread thread = process_.autograd_thread();
  if (compresses())
    process_.launch_copy(thread, {kCastBytes * model_.parameters[parameter].elements},
                         process_.calls().half_cast, Account::other, labels_.cast);
  const TaskId ready = process_.last_kernel();
  const TaskId call = process_.host(thread, process_.calls().horovod_hook, Account::host);
  for (const std::size_t i : partitions_of_[parameter]) exchange(i, ready, call);
}

/// A collective among the GPUs of the node.
TaskId PushPull::nccl(CollectiveOp op, QueueId stream, std::size_t partition, LabelId label,
                      std::initializer_list<TaskId> after) {
  const std::vector<TaskId> inputs(after);
  return process_.collective({.thread = stages_.thread,
                              .op = op,
                              .size = bytes_of(partition),
                              .label = label,
                              .stream = stream,
                              .after = inputs,
                              .among = Group::node});
}

/// A copy of all GPUs' shares; the pool allows one partition at a time.
TaskId PushPull::copy(QueueId queue, PatternId pattern, PoolId pool, Bytes bytes, LabelId label,
                      std::span<const Dependency> after) {
  Task task;
  task.kind = TaskKind::copy;
  task.account = static_cast<std::uint8_t>(Account::exposed_communication);
  task.queue = queue;
  task.pool = pool;
  task.duration = stages_.latency;
  task.pattern = pattern;
  task.traffic = bytes;
  task.label = label;
  return process_.graph().add(task, after);
}

/// Servers only add. A worker's own sum is one of the addends, so n workers need n - 1 additions.
TaskId PushPull::through_server(std::size_t partition, std::span<const Dependency> after) {
  const QueueId queue = queues_[partition];
  const auto [parameter, server, elements] = partitions_[partition];
  const Bytes bytes = bytes_of(partition);
  copy(queue, stages_.out, stages_.to_host, bytes, labels_.to_host, after);
  network_.push(queue, server, bytes, labels_.push, {});
  const Bytes traffic{(network_.workers() - 1) * kSumPasses * bytes.count};
  network_.work(queue, server, traffic, labels_.sum, {}, Account::other);
  network_.pull(queue, server, bytes, labels_.pull, {});
  return copy(queue, stages_.in, stages_.to_gpu, bytes, labels_.to_gpu, {});
}

/// Stages that have nothing to do are left out: NCCL with one GPU per node, servers with one node.
void PushPull::exchange(std::size_t partition, TaskId ready, TaskId call) {
  std::vector<Dependency> after{{call}, {ready}};
  TaskId last = ready;
  if (gpus_ > 1) {
    last = nccl(CollectiveOp::reduce_scatter, stages_.reduces, partition, labels_.reduce, {ready, call});
    after = {{last}};
  }
  if (network_.workers() > 1) last = through_server(partition, after);
  if (gpus_ > 1)
    last = nccl(CollectiveOp::all_gather, stages_.broadcasts, partition, labels_.broadcast, {last});
  done_.push_back(last);
}

/// Each tensor costs a poll, a division and, if compressed, a conversion.
void PushPull::synchronize() {
  const HostThread thread = process_.main_thread();
  std::vector<Dependency> after;
  for (const TaskId task : done_) after.push_back({task, process_.host_costs().sync_wake});
  done_.clear();
  process_.host_for(thread, Time{}, Account::host, after);
  for (const Parameter& parameter : model_.parameters) {
    process_.host(thread, process_.calls().wait_done, Account::host);
    process_.launch_copy(thread, {2 * wire_bytes_ * parameter.elements}, Time{}, Account::other,
                         labels_.average);
    if (compresses())
      process_.launch_copy(thread, {kCastBytes * parameter.elements}, process_.calls().half_cast,
                           Account::other, labels_.cast);
  }
}

void PushPull::explain(Decisions& decisions) const {
  decisions.add("partitions",
                fmt::format("{} of at most {}", partitions_.size(),
                            to_string(process_.request().options<BytepsOptions>().partition_bytes)),
                "each goes through all stages by itself, so that they work at the same time");
  if (network_.workers() == 1) return decisions.add("servers", "none", "one node: NCCL alone sums");
  decisions.add("servers",
                fmt::format("{} for {}, {}", network_.servers(), counted(network_.workers(), "node"),
                            network_.transport().name),
                process_.request().options<ServerOptions>().dedicated_servers
                    ? "machines of their own, which the job's GPUs do not "
                      "count: a node sends and receives every gradient once"
                    : "a node sends and receives every gradient once; servers "
                      "on the same nodes receive and send as much");
}

/// Partitions are exchanged in the last micro-step only.
void add_byteps_step(TrainingStep& step, PushPull& push_pull, int accumulation) {
  for (int micro = 0; micro < accumulation; ++micro) {
    const bool exchanges = micro + 1 == accumulation;
    step.load_batch();
    if (micro == 0) step.zero_gradients();
    step.forward();
    const auto hook = [&push_pull](std::uint32_t parameter) { push_pull.on_gradient(parameter); };
    step.backward(micro > 0, exchanges ? TrainingStep::GradientHook(hook) : nullptr);
  }
  push_pull.synchronize();
}

}  // namespace

std::int64_t partition_elements(Bytes limit, int gpus_per_node, std::int64_t element_bytes) {
  const std::int64_t unit = gpus_per_node * kPage;
  return (limit.count + unit - 1) / unit * unit / element_bytes;
}

Plan plan_byteps(const PlanRequest& request) {
  if (request.placement.size() == 1) {
    Plan plan = plan_single(request);
    plan.decisions.add("one GPU", "no hooks", "BytePS exchanges nothing when there is one process");
    return plan;
  }
  Plan plan;
  Process process(request, plan.graph);
  TrainingStep step(process);
  PushPull push_pull(process);
  for (int i = 0; i < request.steps; ++i) {
    add_byteps_step(step, push_pull, request.knobs.accumulation);
    plan.step_ends.push_back(step.optimize());
    step.finish_step();
  }
  for (const Shard& partition : push_pull.partitions())
    plan.buckets.push_back({push_pull.wire_bytes() * partition.elements});
  push_pull.explain(process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry byteps_strategy() {
  const Knob knobs[] = {
      {"partition_bytes", option<&BytepsOptions::partition_bytes>(), "\"1 MB\"", "4,096,000 bytes",
       "BYTEPS_PARTITION_BYTES: larger gradients are cut", 1024},
      {"servers", option<&ServerOptions::servers>(), "4", "one per node",
       "server processes, in turn over the job's nodes", 0, 4096},
      {"dedicated_servers", option<&ServerOptions::dedicated_servers>(), "true", "false",
       "servers are machines of their own, one each, like the job's nodes"},
      {"compression", choice_of<&GradientOptions::compression>({"none", "fp16"}), "\"fp16\"", "none",
       "gradients travel in 16 bit"},
  };
  return {.name = "byteps",
          .summary = "BytePS: partitions summed in nodes by NCCL, between nodes by servers on CPUs",
          .plan = plan_byteps,
          .starter = Starter::horovodrun,
          .framework = FrameworkKind::pytorch,
          .needs = "BytePS, with a scheduler and servers started beside the workers",
          .knobs = {std::begin(knobs), std::end(knobs)}};
}

}  // namespace foretrain
