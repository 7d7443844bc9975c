// A host call is one task on its thread; the kernel it launches is a second one on the stream, released by
// the first after the launch latency. Everything else in a step is made of these two.
#include "sim/strategy/process/process.hpp"

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/cluster/peer_copy.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/strategy/process/plan_reuse.hpp"

namespace foretrain {

namespace {

Task task_of(TaskKind kind, Account account, QueueId queue, Time duration) {
  Task task;
  task.kind = kind;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = queue;
  task.duration = duration;
  return task;
}

KernelCalibration slowed(KernelCalibration kernels, double factor) {
  kernels.time_scale *= factor;
  return kernels;
}

double loss_factor(const PlanRequest& request) {
  const DeviceModel& device = request.device;
  return slowest_rank_factor(device.rank_spread, request.placement.size()) *
         busy_node_factor(device.busy_node, request.placement, request.cluster.spec().node.gpus);
}

HostCalibration in_a_busy_node(const PlanRequest& request) {
  HostCalibration costs = request.device.host;
  costs.time_scale *=
      busy_node_factor(request.device.busy_host, request.placement, request.cluster.spec().node.gpus);
  return costs;
}

std::unique_ptr<PlanReuse> reuse_of_its_own(const PlanRequest& request) {
  if (request.reuse != nullptr) return nullptr;
  return std::make_unique<PlanReuse>(
      PlanReuse{std::make_shared<ClusterCollectives>(request.cluster),
                OperatorCosts(request.workload, request.cluster.spec().node.gpu)});
}

}  // namespace

Process::Process(const PlanRequest& request, TaskGraph& graph)
    : request_(request),
      graph_(graph),
      host_costs_(in_a_busy_node(request)),
      kernels_(slowed(request.device.kernel, loss_factor(request))),
      own_reuse_(reuse_of_its_own(request)),
      reuse_(own_reuse_ ? own_reuse_.get() : request.reuse) {
  reuse_->operators.use(kernels_, host_costs_);
  graph.reserve(reuse_->tasks, reuse_->dependencies);
  lanes_.push_back(make_lane(0, ""));
  loader = graph.add_queue("loader workers");
  pinner = graph.add_queue("pin-memory thread");
  use_gpu(0);
}

Process::~Process() = default;

Process::Lane Process::make_lane(int rank, const std::string& suffix) {
  Lane lane{};
  lane.main_thread = graph_.add_queue("main thread" + suffix);
  lane.autograd_thread = graph_.add_queue("autograd thread" + suffix);
  lane.compute_stream = graph_.add_queue("compute stream" + suffix);
  lane.nccl_stream = graph_.add_queue("NCCL stream" + suffix);
  lane.device = graph_.add_device("GPU" + suffix);
  lane.place = request_.placement.ranks[static_cast<std::size_t>(rank)];
  const Cluster& cluster = request_.cluster;
  const auto [node, gpu] = lane.place;
  const Route route = cluster.route(cluster.cpu_of_gpu(node, gpu), cluster.gpu(node, gpu));
  const DataSet& data = request_.workload.data;
  const double pageable = !data.pinned && data.loader == LoaderKind::torch
                              ? 2
                              : 1;  // staged through a pinned buffer at half the rate
  lane.input_pattern = graph_.add_pattern({{route.links, pageable}});
  lane.input_latency = route.latency;
  return lane;
}

std::size_t Process::add_gpu(int rank) {
  lanes_.push_back(make_lane(rank, fmt::format(" {}", lanes_.size())));
  return lanes_.size() - 1;
}

void Process::save_lane() {
  Lane& lane = lanes_[in_use_];
  lane.stream_waits = std::move(stream_waits_);
  lane.launched = std::move(launched_);
}

void Process::use_gpu(std::size_t gpu) {
  save_lane();
  Lane& lane = lanes_[gpu];
  in_use_ = gpu;
  main_thread = lane.main_thread, autograd_thread = lane.autograd_thread;
  compute_stream = lane.compute_stream, nccl_stream = lane.nccl_stream;
  device_ = lane.device;
  input_pattern_ = lane.input_pattern, input_latency_ = lane.input_latency;
  stream_waits_ = std::move(lane.stream_waits);
  launched_ = std::move(lane.launched);
}

Time Process::on_this_host(Time reference) const { return on_host(reference, host_cpu(), host_costs()); }

Task Process::host_task(QueueId thread, Time duration, Account account, LabelId label) const {
  Task task = task_of(TaskKind::host, account, thread, duration + hand_over_);
  task.pool = held_pool_;
  task.label = label == kNone ? held_label_ : label;
  return task;
}

TaskId Process::host(QueueId thread, Time reference, Account account, LabelId label) {
  return graph_.add(host_task(thread, on_this_host(reference) * (beside_ ? 1 : turns_), account, label));
}

TaskId Process::host_for(QueueId thread, Time duration, Account account, std::span<const Dependency> after) {
  return graph_.add(host_task(thread, duration, account), after);
}

Time Process::launch_in_turn(Time host) const {
  if (!beside_) return host * turns_;
  return std::max(host, (host - on_this_host(host_costs().bare_node)) * turns_);
}

TaskId Process::enqueue(QueueId thread, Time host, const Task& kernel) {
  const Task call = host_task(thread, launch_in_turn(host), Account::host);
  const bool queue_is_full = launched_.size() >= kDriverQueue;
  const Dependency launched{
      queue_is_full ? graph_.add(call, {{launched_[launched_.size() - kDriverQueue]}}) : graph_.add(call),
      host_costs().launch_latency};
  if (stream_waits_.empty()) {
    launched_.push_back(graph_.add(kernel, {&launched, 1}));
  } else {
    std::vector<Dependency> after{launched};
    for (const TaskId event : stream_waits_) after.push_back({event});
    stream_waits_.clear();
    launched_.push_back(graph_.add(kernel, after));
  }
  return launched_.back();
}

TaskId Process::launch(QueueId thread, Time host, Time kernel, Account account, LabelId label) {
  Task task = task_of(TaskKind::kernel, account, compute_stream, kernel);
  task.device = device_;
  task.label = label;
  return enqueue(thread, host, task);
}

TaskId Process::launch_copy(QueueId thread, Bytes bytes, Time reference, Account account, LabelId label) {
  return launch(thread, on_this_host(reference + host_costs().launch),
                memory_kernel_time(bytes, gpu(), kernels_), account, label);
}

TaskId Process::launch_beside(const SideKernel& call) {
  // Two kernels that wait for the same memory get half of it each.
  Task kernel = task_of(TaskKind::kernel, Account::other, call.stream,
                        memory_kernel_time(call.bytes, gpu(), kernels_) * 2);
  kernel.device = device_;
  kernel.device_share = 0.5;
  kernel.label = call.label;
  std::vector<Dependency> after{
      {host(call.thread, host_costs().launch, Account::host), host_costs().launch_latency}};
  for (const TaskId event : call.after) after.push_back({event});
  return graph_.add(kernel, after);
}

TaskId Process::synchronize(QueueId thread, TaskId event) {
  return graph_.add(task_of(TaskKind::wait, Account::host, thread, Time::zero()),
                    {{event, host_costs().sync_wake}});
}

TaskId Process::synchronize(QueueId thread) {
  const Task wait = task_of(TaskKind::wait, Account::host, thread, Time::zero());
  const TaskId last = last_kernel();
  if (last == kNone) return graph_.add(wait);
  return graph_.add(wait, {{last, host_costs().sync_wake}});
}

void Process::hand_over(QueueId from, QueueId to) {
  const TaskId last = graph_.last_on(from);
  const Task wait = task_of(TaskKind::wait, Account::host, to, Time::zero());
  if (last != kNone) graph_.add(wait, {{last}});
}

OperatorCosts& Process::operator_costs() { return reuse_->operators; }

GroupCollectives& Process::collectives(Group group) {
  std::shared_ptr<GroupCollectives>& known = collectives_[static_cast<std::size_t>(group)];
  if (!known) known = reuse_->collectives->of(request_.placement, group, request_.collective);
  return *known;
}

void Process::explain(const GroupCollective& collective) {
  if (!explained_.insert(&collective).second) return;
  const Decision& why = collective.decision;
  decisions_.add(why.subject, why.choice, why.why);
}

PatternId Process::pattern_of(GroupCollective& collective, Group group) {
  const CollectivePlan& plan = collective.plan;
  const CachedPattern wanted{plan.op, plan.algorithm, plan.protocol, plan.stretch, group, kNone};
  for (const CachedPattern& known : patterns_) {
    if (known.is_like(wanted)) return known.pattern;
  }
  patterns_.push_back(wanted);
  patterns_.back().pattern = graph_.share_pattern(collectives(group).flows(collective));
  return patterns_.back().pattern;
}

PatternId Process::pattern_of(const Route& route, double weight) {
  const auto [known, is_new] = route_patterns_.try_emplace({route.links, weight}, kNone);
  if (is_new) known->second = graph_.add_pattern({{route.links, weight}});
  return known->second;
}

TaskId Process::collective(QueueId thread, CollectiveOp op, Bytes size, LabelId label) {
  return collective({thread, op, size, label});
}

TaskId Process::collective(const CollectiveCall& wanted) {
  GroupCollectives& group = collectives(wanted.among);
  GroupCollective& known = group.at(wanted.op, wanted.size);
  explain(known);
  const int ranks = group.communicator().size();
  const QueueId stream = wanted.stream == kNone ? nccl_stream : wanted.stream;
  Task task = task_of(TaskKind::collective, Account::exposed_communication, stream, known.plan.latency);
  task.device = device_;
  task.device_share = share_of_collective(known.plan, gpu(), ranks, request_.device.collective_share);
  task.label = wanted.label;
  if (ranks > 1) {
    task.pattern = pattern_of(known, wanted.among);
    task.traffic = wanted.size;
  }
  std::vector<Dependency> after{
      {host(wanted.thread, host_costs().collective_call, Account::host), host_costs().launch_latency}};
  for (const TaskId input : wanted.after) after.push_back({input});
  if (wanted.after.empty() && last_kernel() != kNone) after.push_back({last_kernel()});
  return graph_.add(task, after);
}

TaskId Process::collective_of_all_gpus(QueueId thread, CollectiveOp op, Bytes size, LabelId label) {
  save_lane();
  std::vector<TaskId> inputs;
  for (Lane& lane : lanes_) {
    if (const TaskId last = graph_.last_on(lane.compute_stream); last != kNone) inputs.push_back(last);
    inputs.insert(inputs.end(), lane.stream_waits.begin(), lane.stream_waits.end());
    lane.stream_waits.clear();
  }
  const std::size_t first = in_use_;
  const TaskId task = collective({thread, op, size, label, lanes_[first].compute_stream, inputs});
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i != first) lanes_[i].stream_waits.push_back(task);
  }
  stream_waits_ = std::move(lanes_[first].stream_waits);
  launched_ = std::move(lanes_[first].launched);
  return task;
}

TaskId Process::copy_between(QueueId thread, std::size_t from, std::size_t to, Bytes bytes, Account account,
                             LabelId label) {
  const Route route =
      request_.cluster.route(request_.cluster.gpu(lanes_[from].place.node, lanes_[from].place.gpu),
                             request_.cluster.gpu(lanes_[to].place.node, lanes_[to].place.gpu));
  std::vector<Dependency> after{
      {host(thread, host_costs().copy_call, Account::host), host_costs().launch_latency}};
  if (const TaskId last = graph_.last_on(lanes_[from].compute_stream); last != kNone) after.push_back({last});
  std::vector<TaskId>& waits = to == in_use_ ? stream_waits_ : lanes_[to].stream_waits;
  for (const TaskId event : waits) after.push_back({event});
  waits.clear();
  Task copy = task_of(TaskKind::copy, account, lanes_[to].compute_stream, route.latency);
  copy.label = label;
  copy.pattern = pattern_of(route, 1 / peer_copy_share(request_.cluster, route));
  copy.traffic = bytes;
  const TaskId done = graph_.add(copy, after);
  (from == in_use_ ? stream_waits_ : lanes_[from].stream_waits).push_back(done);
  return done;
}

TaskId Process::transfer(QueueId stream, const Route& route, Bytes bytes, Account account, LabelId label,
                         std::span<const TaskId> after) {
  Task copy = task_of(TaskKind::copy, account, stream, route.latency);
  copy.label = label;
  copy.pattern = pattern_of(route);
  copy.traffic = bytes;
  std::vector<Dependency> before;
  for (const TaskId task : after) before.push_back({task});
  return graph_.add(copy, before);
}

TaskId Process::copy_to_device(QueueId thread, Bytes bytes, LabelId label) {
  Task copy = task_of(TaskKind::copy, Account::input_stall, compute_stream, input_latency_);
  copy.label = label;
  copy.pattern = input_pattern_;
  copy.traffic = bytes;
  return enqueue(thread, on_this_host(host_costs().copy_call), copy);
}

TaskId Process::copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label) {
  Task copy = task_of(TaskKind::copy, Account::input_stall, stream, input_latency_);
  copy.label = label;
  copy.pattern = input_pattern_;
  copy.traffic = bytes;
  return graph_.add(copy, {{ready, host_costs().launch_latency}});
}

}  // namespace foretrain
