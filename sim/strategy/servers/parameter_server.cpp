// Parameter servers. Every tensor has a chain of its own: gradients to the place where the node's are summed,
// the sum to its server, the update, the variable back to the node, and to the GPUs. Chains compete for copy
// engines, connections, links and CPUs, and wait for nothing else.
//
// Every variable has a home on one server, unless it is cut over all of them. A worker pulls variables before
// it uses them and pushes gradients as they arrive; a server's NIC carries the traffic of all workers. The
// time of a step is bounded by the busiest server, so the division of variables among servers matters more
// than their number.
#include "sim/strategy/servers/parameter_server.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/replicas/node_sums.hpp"
#include "sim/strategy/servers/server_layout.hpp"
#include "sim/strategy/servers/server_network.hpp"
#include "sim/strategy/servers/server_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/training_step.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// Returns whether the framework has TensorFlow's servers; others use MXNet's.
bool has_own_servers(const PlanRequest& request) {
  return profile_of(request.workload.framework).has_parameter_servers;
}

std::vector<int> homes(const PlanRequest& request) {
  if (!request.options<ParameterServerOptions>().server_on_gpu) return {};
  int gpus = 0;
  for (const GpuPlace& rank : request.placement.ranks)
    gpus += rank.node == request.placement.ranks.front().node;
  return tensors_over_gpus(*request.workload.model, gpus,
                           has_own_servers(request) ? TensorOrder::of_model : TensorOrder::largest_first);
}

ServerTransport transport_for(const PlanRequest& request) {
  return has_own_servers(request) ? grpc_server_transport(request.calls)
                                  : ps_lite_transport(request.cluster.spec().fabric.link, request.calls);
}

/// Returns whether forward and backward are one call. XLA's clusters start when all their inputs exist, and
/// their outputs exist when they end; the same holds for a CUDA graph.
bool is_one_call(const Framework& framework) {
  return gradients_come_together(framework) || framework.execution == Execution::cuda_graphs;
}

/// The worker process of a node, with its variables and gradients.
class Worker {
 public:
  explicit Worker(Process& process);

  // Fetches all variables, if the framework does so at the start of a step.
  void start_step();
  /// Called before a layer's first kernel, which waits for the layer's variables.
  void before_layer(std::uint32_t layer);
  void on_gradient(std::uint32_t parameter);
  void end_backward();
  void end_step();

  std::vector<Bytes> messages() const;
  StrategyMemory memory() const;
  void explain(Decisions& decisions) const;

 private:
  struct Labels {
    LabelId gather, sum, push, server, pull, scatter;
  };
  Labels make_labels(TaskGraph& graph) const;
  Bytes bytes_of(std::int64_t elements) const { return {element_bytes_ * elements}; }
  Bytes update_traffic(std::int64_t elements) const;
  void push(std::uint32_t parameter);
  TaskId update(std::uint32_t parameter, std::span<const Dependency> gradient);
  std::vector<TaskId> update_on_servers(std::uint32_t parameter, TaskId summed);
  void update_for_the_others(std::size_t shard, Bytes traffic, TaskId own);
  void bring_back(std::uint32_t parameter);
  bool over_nodes() const { return network_.workers() > 1; }

  Process& process_;
  const PlanRequest& request_;
  const ParameterServerOptions& options_;
  const ExpandedModel& model_;
  bool fetches_at_start_;
  bool one_call_;  ///< forward and backward are one call that takes all variables and returns all gradients
  std::int64_t element_bytes_;
  NodeSums node_;
  std::vector<Shard> shards_;
  ServerNetwork network_;
  Labels labels_;
  HostThread copy_thread_;
  std::vector<QueueId> queues_, shard_queues_,
      other_queues_;  ///< per parameter, per shard, per shard for the other workers' updates
  std::vector<std::vector<std::size_t>> shards_of_;        ///< per parameter
  std::vector<std::vector<std::uint32_t>> used_first_in_;  ///< per layer: parameters whose first use it is
  std::vector<std::vector<TaskId>> updated_;  ///< per parameter: tasks of the last update, one per shard
  std::vector<TaskId> arrived_;        ///< per parameter: it is on the GPUs; kNone once a kernel waits for it
  TaskId step_over_ = kNone;           ///< the last step's updates are done
  std::vector<std::uint32_t> pushed_;  ///< launch order, first step
  bool first_step_ = true;
};

Worker::Worker(Process& process)
    : process_(process),
      request_(process.request()),
      options_(request_.options<ParameterServerOptions>()),
      model_(*request_.workload.model),
      fetches_at_start_(has_own_servers(request_)),
      one_call_(is_one_call(request_.workload.framework)),
      element_bytes_(gradient_element_bytes(request_.workload)),
      node_(process, homes(request_)),
      shards_(fetches_at_start_ ? shards_in_turn(model_, server_count(request_))
                                : shards_by_size(model_, server_count(request_))),
      network_(process, server_count(request_), shards_, transport_for(request_),
               machines_of(request_.options<ServerOptions>())),
      labels_(make_labels(process.graph())),
      copy_thread_(process.add_thread("copy thread")),
      shards_of_(model_.parameters.size()),
      used_first_in_(model_.layer_names.size()),
      updated_(model_.parameters.size()),
      arrived_(model_.parameters.size(), kNone) {
  TaskGraph& graph = process.graph();
  for (std::uint32_t p = 0; p < model_.parameters.size(); ++p) {
    queues_.push_back(graph.add_queue(model_.parameters[p].name));
    used_first_in_[one_call_ ? model_.forward.front().layer : model_.parameters[p].layer].push_back(p);
  }
  if (!over_nodes()) return;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const std::string name = model_.parameters[shards_[i].parameter].name;
    shard_queues_.push_back(graph.add_queue(name + " on its server"));
    if (options_.asynchronous) other_queues_.push_back(graph.add_queue(name + " for others"));
    shards_of_[shards_[i].parameter].push_back(i);
  }
}

/// Returns the labels. On one node the copies inside it carry the gradients, else the messages to the servers
/// do.
Worker::Labels Worker::make_labels(TaskGraph& graph) const {
  const auto label = [&](const char* text) { return graph.label(text); };
  if (network_.workers() == 1)
    return {label("push of gradients"), label("sum and update"), kNone, kNone, kNone,
            label("pull of variables")};
  return {label("gradients to their sum"), label("sum of a node's gradients"),
          label("push of gradients"),      label("update on the servers"),
          label("pull of variables"),      label("variables to the GPUs")};
}

/// Returns the memory traffic of the optimizer on one tensor, as a server updates it variable by variable.
Bytes Worker::update_traffic(std::int64_t elements) const {
  Optimizer optimizer = request_.workload.optimizer;
  optimizer.form = OptimizerForm::variable;
  Bytes traffic{};
  for (const OptimizerLaunch& launch : optimizer_launches(optimizer, {elements})) traffic += launch.bytes;
  return traffic;
}

void Worker::start_step() {
  if (!fetches_at_start_) return;
  for (std::uint32_t p = 0; p < model_.parameters.size(); ++p) bring_back(p);
}

/// The variable goes from its server over the network to the node, and from there to its GPUs.
void Worker::bring_back(std::uint32_t parameter) {
  const QueueId queue = queues_[parameter];
  const Bytes bytes = bytes_of(model_.parameters[parameter].elements);
  const bool waits = fetches_at_start_ && step_over_ != kNone;
  std::vector<Dependency> after;
  for (const std::size_t i : shards_of_[parameter]) {
    std::vector<Dependency> asked;
    if (waits) asked.push_back({step_over_});
    after.push_back({network_.pull(shard_queues_[i], shards_[i].server, bytes_of(shards_[i].elements),
                                   labels_.pull, asked)});
  }
  if (!over_nodes() && waits) after.push_back({step_over_});
  // With sums on GPUs a variable first goes to the GPU that keeps it.
  if (over_nodes() && node_.on_gpu()) {
    process_.graph().add({.kind = TaskKind::wait, .queue = queue}, after);
    node_.to_gpu(queue, parameter, bytes, labels_.scatter);
    after.clear();
  }
  arrived_[parameter] = node_.scatter(queue, parameter, bytes, labels_.scatter, after);
}

void Worker::before_layer(std::uint32_t layer) {
  for (const std::uint32_t p : used_first_in_[layer]) {
    if (arrived_[p] != kNone) process_.stream_waits_for(arrived_[p]);
    arrived_[p] = kNone;
  }
}

void Worker::on_gradient(std::uint32_t parameter) {
  if (first_step_) pushed_.push_back(parameter);
  if (!one_call_) push(parameter);
}

void Worker::end_backward() {
  if (!one_call_) return;
  for (const std::uint32_t p : pushed_) push(p);
}

void Worker::push(std::uint32_t parameter) {
  const TaskId call = process_.host(copy_thread_, process_.host_costs().copy_call, Account::host);
  const TaskId computed = process_.last_kernel();
  const Dependency after[] = {{call, process_.host_costs().launch_latency}, {computed}};
  const TaskId summed = update(parameter, after);
  updated_[parameter] = over_nodes() ? update_on_servers(parameter, summed) : std::vector<TaskId>{summed};
  if (!fetches_at_start_) bring_back(parameter);
}

/// Work inside the node, with the update if there is no other node.
TaskId Worker::update(std::uint32_t parameter, std::span<const Dependency> gradient) {
  const std::int64_t elements = model_.parameters[parameter].elements;
  const QueueId queue = queues_[parameter];
  node_.gather(queue, parameter, bytes_of(elements), labels_.gather, gradient);
  if (!over_nodes())
    return node_.add(queue, parameter, update_traffic(elements), labels_.sum, Account::optimizer);
  const TaskId sum = node_.add(queue, parameter, {}, labels_.sum, Account::other);
  return node_.on_gpu() ? node_.to_host(queue, parameter, bytes_of(elements), labels_.gather) : sum;
}

/// Synchronous training adds up the workers' sums on a server and updates once. Otherwise the server updates
/// for each worker when its gradients arrive.
std::vector<TaskId> Worker::update_on_servers(std::uint32_t parameter, TaskId summed) {
  std::vector<TaskId> updated;
  for (const std::size_t i : shards_of_[parameter]) {
    const Shard& shard = shards_[i];
    const Bytes update = update_traffic(shard.elements);
    const Bytes sums{kSumPasses * (network_.workers() - 1) * bytes_of(shard.elements).count};
    const Dependency after[] = {{summed}};
    network_.push(shard_queues_[i], shard.server, bytes_of(shard.elements), labels_.push, after);
    const Bytes work = options_.asynchronous ? update : update + sums;
    updated.push_back(network_.work(shard_queues_[i], shard.server, work, labels_.server, {}));
    if (options_.asynchronous) update_for_the_others(i, update, updated.back());
  }
  return updated;
}

/// The updates for other workers keep the server busy, but this worker does not wait for them.
void Worker::update_for_the_others(std::size_t shard, Bytes traffic, TaskId own) {
  const Dependency after[] = {{own}};
  network_.work(other_queues_[shard], shards_[shard].server, traffic * (network_.workers() - 1),
                labels_.server, after);
}

/// TensorFlow's call returns when all variables are updated. With synchronous training that includes the
/// other workers' (one token from each).
void Worker::end_step() {
  first_step_ = false;
  if (!fetches_at_start_) return;
  std::vector<Dependency> after;
  const bool tokens = over_nodes() && !options_.asynchronous;
  for (const std::vector<TaskId>& tasks : updated_) {
    for (const TaskId task : tasks) after.push_back({task, tokens ? network_.round_trip() : Time{}});
  }
  step_over_ = process_.host_for(process_.main_thread(), Time{}, Account::host, after);
}

std::vector<Bytes> Worker::messages() const {
  std::vector<Bytes> messages;
  for (const std::uint32_t p : pushed_) {
    if (!over_nodes()) messages.push_back(bytes_of(model_.parameters[p].elements));
    for (const std::size_t i : shards_of_[p]) messages.push_back(bytes_of(shards_[i].elements));
  }
  return messages;
}

/// Variables and gradients are on every GPU; the optimizer's state is where it runs. A GPU that sums also
/// holds the gradients of the others.
StrategyMemory Worker::memory() const {
  StrategyMemory memory;
  memory.optimizer = 0;
  if (!node_.on_gpu()) return memory;
  std::vector<std::int64_t> held(static_cast<std::size_t>(node_.gpus()), 0);
  const std::vector<int> gpu_of = homes(request_);
  for (std::size_t p = 0; p < gpu_of.size(); ++p)
    held[static_cast<std::size_t>(gpu_of[p])] += model_.parameters[p].elements;
  const std::int64_t most = *std::max_element(held.begin(), held.end());
  if (!over_nodes())
    memory.optimizer = static_cast<double>(most) / static_cast<double>(model_.parameter_elements());
  memory.buffers = bytes_of(most * (node_.gpus() - 1));
  return memory;
}

void Worker::explain(Decisions& decisions) const {
  const bool asynchronous = options_.asynchronous;
  decisions.add("sums of a node", node_.on_gpu() ? "on its GPUs" : "in host memory",
                node_.on_gpu() ? "each tensor on the GPU that has fewest elements so far"
                               : "strategy.server_on_gpu = true keeps them on the GPUs");
  decisions.add("variables", fetches_at_start_ ? "fetched at the start of a step" : "sent back when updated",
                fetches_at_start_ ? "TensorFlow: a step reads its variables, and ends when all are updated"
                                  : "MXNet: each tensor is pulled behind its push, while backward goes on");
  if (!over_nodes()) {
    decisions.add("parameter servers", "none", "one node: its worker process keeps the variables");
    return;
  }
  const std::vector<double> held = elements_of_servers(shards_, network_.servers());
  const double most = *std::max_element(held.begin(), held.end());
  decisions.add(
      "parameter servers",
      fmt::format("{} for {}", network_.servers(), counted(network_.workers(), "worker")),
      fmt::format(
          "one worker per node{}; the fullest server has {:.0f} % of the parameters",
          request_.options<ServerOptions>().dedicated_servers ? ", servers on machines of their own" : "",
          100 * most / static_cast<double>(model_.parameter_elements())));
  decisions.add("messages", std::string(network_.transport().name),
                fmt::format("{} per message{}", to_string(network_.transport().message),
                            network_.transport().stream.per_second > 0
                                ? fmt::format(", {} per connection", to_string(network_.transport().stream))
                                : ""));
  decisions.add("workers", asynchronous ? "each at its own pace" : "in step",
                asynchronous ? "servers update for every worker by itself; gradients are of older variables"
                             : "servers wait for all workers");
}

void add_worker_step(const Process& process, TrainingStep& step, Worker& worker) {
  const PlanRequest& request = process.request();
  const ExpandedModel& model = *request.workload.model;
  for (int micro = 0; micro < request.knobs.accumulation; ++micro) {
    const bool pushes = micro + 1 == request.knobs.accumulation;
    if (micro == 0) worker.start_step();
    step.load_batch();
    if (micro == 0) step.zero_gradients();
    step.begin_forward();
    for (const Operator& op : model.forward) {
      worker.before_layer(op.layer);
      step.forward_operator(process.main_thread(), op, request.workload.batch_per_gpu);
    }
    step.end_forward();
    const auto hook = [&worker](std::uint32_t parameter) { worker.on_gradient(parameter); };
    step.backward(micro > 0, pushes ? TrainingStep::GradientHook(hook) : nullptr);
  }
  worker.end_backward();
}

Plan plan_standalone(const PlanRequest& request) {
  Plan plan = plan_single(request);
  plan.decisions.add("one GPU", "no server", "the only GPU keeps its variables and updates them");
  return plan;
}

}  // namespace

Plan plan_parameter_server(const PlanRequest& request) {
  const bool alone = request.placement.size() == 1;
  if (alone && (!has_own_servers(request) || request.options<ParameterServerOptions>().server_on_gpu))
    return plan_standalone(request);
  DeviceModel device = request.device;
  if (request.options<ParameterServerOptions>().asynchronous)
    // Without a barrier no worker waits for the slowest one.
    device.rank_spread = 0;
  const PlanRequest asked{request.workload, request.cluster, request.placement,  request.knobs,
                          device,           request.steps,   request.collective, request.reuse,
                          request.calls,    request.job};
  Plan plan;
  Process process(asked, plan.graph);
  TrainingStep step(process);
  Worker worker(process);
  for (int i = 0; i < request.steps; ++i) {
    add_worker_step(process, step, worker);
    plan.step_ends.push_back(process.last_kernel());
    worker.end_step();
    step.finish_step();
  }
  if (!alone) plan.buckets = worker.messages();
  plan.memory = worker.memory();
  worker.explain(process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry parameter_server_strategy() {
  const Knob knobs[] = {
      {"servers", option<&ServerOptions::servers>(), "4", "one per node",
       "server processes, in turn over the job's nodes", 0, 4096},
      {"dedicated_servers", option<&ServerOptions::dedicated_servers>(), "true", "false",
       "servers are machines of their own, one each, like the job's nodes"},
      {"asynchronous", option<&ParameterServerOptions::asynchronous>(), "true", "false",
       "no barrier: servers update for every worker as it comes"},
      {"server_on_gpu", option<&ParameterServerOptions::server_on_gpu>(), "true", "false",
       "gradients of a node are summed on its GPUs, each tensor on one, instead of in host memory"},
  };
  return {
      .name = "parameter_server",
      .summary = "servers keep the variables: GPUs hand in gradients and fetch variables (TensorFlow, MXNet)",
      .plan = plan_parameter_server,
      .processes = Processes::per_node,
      .needs = "the training written for MXNet or TensorFlow, with server processes",
      .home = FrameworkKind::tensorflow,
      .knobs = {std::begin(knobs), std::end(knobs)},
      .alias = "ps"};
}

}  // namespace foretrain
