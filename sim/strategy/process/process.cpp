// A host call is one task on its thread. The kernel that it launches is a second task on the stream, released
// by the first after the launch latency. Everything else in a step is made of these two.
#include "sim/strategy/process/process.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/cluster/routing.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/strategy/process/plan_reuse.hpp"
#include "sim/strategy/process/process_tasks.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

/// Script threads of one rank: the main thread (or the executor's) and the one that issues backward. Both
/// spin.
constexpr int kScriptThreads = 2;

KernelCalibration slowed(KernelCalibration kernels, double factor) {
  kernels.time_scale *= factor;
  return kernels;
}

double input_weight(const DataSet& data) {
  return !data.pinned && data.loader == LoaderKind::torch ? kPageableSlowdown : 1.0;
}

/// Returns the cores that a rank keeps busy: the script's and the loader's. Where no loader is stated, it is
/// the rank's share of the node's cores.
int busy_threads(const PlanRequest& request) {
  const DataSet& data = request.workload.data;
  if (data.loader == LoaderKind::none) return static_cast<int>(cores_of_rank({}, request.own_node()));
  return kScriptThreads + std::max(0, data.workers_per_gpu);
}

/// Returns the ranks of the own node. If ranks differ, only this node counts; otherwise the fullest node
/// does.
Placement own_ranks(const PlanRequest& request) {
  Placement own;
  for (const GpuPlace& rank : request.placement.ranks) {
    if (rank.node == request.placement.ranks.front().node) own.ranks.push_back(rank);
  }
  return own;
}

double busy_node(const PlanRequest& request, const Placement& ranks) {
  return contention_factor(request.device.busy_node, ranks, request.own_node().gpus);
}

double busy_host(const PlanRequest& request, const Placement& ranks) {
  return busy_host_factor(request.device.busy_host, ranks, request.own_node().host.cores,
                          busy_threads(request));
}

/// Returns the factor on every kernel. The representative is the slowest of all ranks, on a node that may be
/// full.
double loss_factor(const PlanRequest& request) {
  const DeviceModel& device = request.device;
  return slowest_rank_factor(device.rank_spread, request.placement.size()) *
         (request.job == nullptr ? busy_node(request, request.placement)
                                 : busy_node(request, own_ranks(request)));
}

/// Cores clock down when those of all ranks of a node work.
HostCalibration in_a_busy_node(const PlanRequest& request) {
  HostCalibration costs = request.device.host;
  costs.time_scale *=
      request.job == nullptr ? busy_host(request, request.placement) : busy_host(request, own_ranks(request));
  return costs;
}

/// A plan without a shared cache, as tests make it, gets one of its own.
std::unique_ptr<PlanReuse> reuse_of_its_own(const PlanRequest& request) {
  if (request.reuse != nullptr) return nullptr;
  return std::make_unique<PlanReuse>(PlanReuse{std::make_shared<ClusterCollectives>(request.cluster),
                                               OperatorCosts(request.workload, request.own_node().gpu)});
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
  main_thread_ = add_thread("main thread");
  gpus_.push_back(make_gpu(0, ""));
  node_input_pattern_ = input_of_the_node();
  loader_ = add_thread("loader workers");
  pinner_ = add_thread("pin-memory thread");
}

Process::~Process() = default;

Process::DrivenGpu Process::make_gpu(int rank, const std::string& suffix) {
  DrivenGpu gpu{};
  gpu.autograd_thread = graph_.add_queue("autograd thread" + suffix);
  gpu.compute_stream = graph_.add_queue("compute stream" + suffix);
  gpu.nccl_stream = graph_.add_queue("NCCL stream" + suffix);
  gpu.device = graph_.add_device("GPU" + suffix);
  gpu.place = request_.placement.ranks[static_cast<std::size_t>(rank)];
  const Cluster& cluster = request_.cluster;
  const auto [node, number] = gpu.place;
  const Route route = cluster.route(cluster.cpu_of_gpu(node, number), cluster.gpu(node, number));
  // Memory that is not page-locked goes through a buffer of the driver, at a part of the rate.
  gpu.input_pattern = graph_.add_pattern({{route.links, input_weight(request_.workload.data)}});
  gpu.input_latency = route.latency;
  return gpu;
}

/// Ranks of a synchronous step ask for their batches at the same time, so those of one node share its PCIe.
PatternId Process::input_of_the_node() const {
  const Cluster& cluster = request_.cluster;
  const int own_node = gpus_.front().place.node;
  std::vector<PatternFlow> flows;
  for (const auto [node, number] : request_.placement.ranks) {
    if (node != own_node) continue;
    const Route route = cluster.route(cluster.cpu_of_gpu(node, number), cluster.gpu(node, number));
    flows.push_back({route.links, input_weight(request_.workload.data)});
  }
  return graph_.add_pattern(std::move(flows));
}

std::size_t Process::add_gpu(int rank) {
  gpus_.push_back(make_gpu(rank, fmt::format(" {}", gpus_.size())));
  return gpus_.size() - 1;
}

Time Process::on_this_host(Time reference) const { return on_host(reference, host_cpu(), host_costs()); }

/// A thread that shares an interpreter holds its lock (the pool) for the whole call.
Task Process::host_task(const HostThread& thread, Time duration, Account account, LabelId label) const {
  Task task = task_of(TaskKind::host, account, thread.queue, duration + thread.hand_over);
  task.pool = thread.mutex;
  task.label = label == kNone ? thread.label : label;
  return task;
}

TaskId Process::host(const HostThread& thread, Time reference, Account account, LabelId label) {
  // The call is repeated for each of its GPUs, unless each of them has a thread of its own.
  const Time all = on_this_host(reference) * (thread.beside ? 1 : thread.turns);
  return graph_.add(host_task(thread, all, account, label));
}

TaskId Process::host_for(const HostThread& thread, Time duration, Account account,
                         std::span<const Dependency> after) {
  return graph_.add(host_task(thread, duration, account), after);
}

Time Process::launch_in_turn(const HostThread& thread, Time host) const {
  if (!thread.beside) return host * thread.turns;
  // The executor's own part runs concurrently; the launches in it take turns in the driver.
  return std::max(host, (host - on_this_host(host_costs().bare_node)) * thread.turns);
}

TaskId Process::enqueue(const HostThread& thread, Time host, const Task& kernel) {
  const Task call = host_task(thread, launch_in_turn(thread, host), Account::host);
  std::vector<TaskId>& waits = gpus_[thread.gpu].stream_waits;
  std::vector<TaskId>& launched = gpus_[thread.gpu].launched;
  // The driver's queue is limited; the call for one more launch returns when the oldest of them has run.
  const bool queue_is_full = launched.size() >= kDriverQueue;
  const Dependency called{
      queue_is_full ? graph_.add(call, {{launched[launched.size() - kDriverQueue]}}) : graph_.add(call),
      host_costs().launch_latency};
  if (waits.empty()) {
    launched.push_back(graph_.add(kernel, {&called, 1}));
  } else {
    std::vector<Dependency> after{called};
    for (const TaskId event : waits) after.push_back({event});
    waits.clear();
    launched.push_back(graph_.add(kernel, after));
  }
  return launched.back();
}

TaskId Process::launch(const HostThread& thread, Time host, Time kernel, Account account, LabelId label) {
  const DrivenGpu& gpu = gpus_[thread.gpu];
  Task task = task_of(TaskKind::kernel, account, gpu.compute_stream, kernel);
  task.device = gpu.device;
  task.label = label;
  return enqueue(thread, host, task);
}

TaskId Process::launch_copy(const HostThread& thread, Bytes bytes, Time reference, Account account,
                            LabelId label) {
  return launch(thread, on_this_host(reference + host_costs().launch),
                memory_kernel_time(bytes, gpu(), kernels_), account, label);
}

TaskId Process::launch_copies(const HostThread& thread, const OptimizerLaunch& launches, Account account,
                              LabelId label) {
  return launch(thread, on_this_host(launches.host + host_costs().launch) * launches.count,
                memory_kernel_time(launches.bytes, gpu(), kernels_) * launches.count, account, label);
}

/// A kernel on another stream takes its part of the memory bandwidth and lasts longer by that factor, while
/// compute kernels slow down by the same share.
TaskId Process::launch_on_side_stream(const SideKernel& call) {
  Task kernel = task_of(TaskKind::kernel, Account::other, call.stream,
                        memory_kernel_time(call.bytes, gpu(), kernels_) * kMemorySharers);
  kernel.device = gpus_[call.thread.gpu].device;
  kernel.device_share = 1.0 / kMemorySharers;
  kernel.label = call.label;
  std::vector<Dependency> after{
      {host(call.thread, host_costs().launch, Account::host), host_costs().launch_latency}};
  for (const TaskId event : call.after) after.push_back({event});
  return graph_.add(kernel, after);
}

/// The host sleeps until the event, and needs some microseconds to wake up.
TaskId Process::synchronize(const HostThread& thread, TaskId event) {
  return graph_.add(task_of(TaskKind::wait, Account::host, thread.queue, Time::zero()),
                    {{event, host_costs().sync_wake}});
}

TaskId Process::synchronize(const HostThread& thread) {
  const Task wait = task_of(TaskKind::wait, Account::host, thread.queue, Time::zero());
  const TaskId last = graph_.last_on(gpus_[thread.gpu].compute_stream);
  if (last == kNone) return graph_.add(wait);
  return graph_.add(wait, {{last, host_costs().sync_wake}});
}

/// Tasks of `to` from here on come after all tasks of `from`.
void Process::hand_over(const HostThread& from, const HostThread& to) {
  const TaskId last = graph_.last_on(from.queue);
  const Task wait = task_of(TaskKind::wait, Account::host, to.queue, Time::zero());
  if (last != kNone) graph_.add(wait, {{last}});
}

OperatorCosts& Process::operator_costs() { return reuse_->operators; }

Group Process::add_group(int size, int stride) {
  const RankSets wanted{Group::world, size, stride};
  const auto known = std::ranges::find(groups_, wanted, [](const auto& group) { return group.first; });
  const auto number = static_cast<Group>(known - groups_.begin());
  if (known == groups_.end()) groups_.push_back({wanted, nullptr});
  return number;
}

/// If the placement is rotated (PlanRequest::job), groups with a size and the group of all ranks are made of
/// the ranks in their own order.
GroupCollectives& Process::collectives(Group group) {
  auto& [sets, known] = groups_[static_cast<std::size_t>(group)];
  if (known) return *known;
  const GpuPlace own = request_.placement.ranks.front();
  if (request_.job != nullptr && sets.size > 0)
    known = reuse_->collectives->of(*request_.job, sets, request_.collective, own);
  else if (request_.job != nullptr && group == Group::world)
    known = reuse_->collectives->of(*request_.job, sets, request_.collective, GpuPlace{own.node, 0});
  else
    known = reuse_->collectives->of(request_.placement, sets, request_.collective);
  return *known;
}

/// All messages of one size have the same decision, which is added once.
void Process::explain(const GroupCollective& collective) {
  if (!explained_.insert(&collective).second) return;
  const Decision& why = collective.decision;
  decisions_.add(why.subject, why.choice, why.why);
}

PatternId Process::pattern_of(GroupCollective& collective, Group group) {
  const CollectivePlan& plan = collective.plan;
  // Messages of all sizes share a pattern if NCCL sends them by the same route: flows carry shares of a byte.
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

TaskId Process::collective(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label,
                           WireType type) {
  return collective({.thread = thread, .op = op, .size = size, .label = label, .type = type});
}

TaskId Process::collective(const CollectiveCall& wanted) {
  GroupCollectives& group = collectives(wanted.among);
  GroupCollective& known = group.at(wanted.op, wanted.size);
  explain(known);
  const int ranks = group.communicator().size();
  const DrivenGpu& on = gpus_[wanted.thread.gpu];
  const QueueId stream = wanted.stream == kNone ? on.nccl_stream : wanted.stream;
  Task task = task_of(TaskKind::collective, Account::exposed_communication, stream, known.plan.latency);
  task.device = on.device;
  task.device_share = share_of_collective(known.plan, gpu(), ranks, request_.device.collective_share);
  task.label = wanted.label;
  if (ranks > 1) {
    task.pattern = pattern_of(known, wanted.among);
    task.traffic = wanted.size;
  }
  std::vector<Dependency> after{
      {host(wanted.thread, host_costs().collective_call, Account::host), host_costs().launch_latency}};
  for (const TaskId input : wanted.after) after.push_back({input});
  const TaskId last = graph_.last_on(on.compute_stream);
  // NCCL waits for all earlier work of the compute stream, unless the caller names the inputs.
  if (wanted.after.empty() && last != kNone) after.push_back({last});
  const TaskId added = graph_.add(task, after);
  const auto way = known.plan.algorithm ? static_cast<std::uint8_t>(*known.plan.algorithm) + 1 : 0;
  graph_.note_traffic({added, static_cast<std::uint8_t>(wanted.op), static_cast<std::uint8_t>(wanted.among),
                       static_cast<std::uint8_t>(way), static_cast<std::uint8_t>(wanted.type),
                       static_cast<std::uint8_t>(pass_), wanted.size});
  return added;
}

/// One collective stands for the calls of all GPUs. It begins when the last of them is ready, and all wait
/// for its end.
TaskId Process::collective_of_all_gpus(const HostThread& thread, CollectiveOp op, Bytes size, LabelId label) {
  std::vector<TaskId> inputs;
  for (DrivenGpu& gpu : gpus_) {
    if (const TaskId last = graph_.last_on(gpu.compute_stream); last != kNone) inputs.push_back(last);
    inputs.insert(inputs.end(), gpu.stream_waits.begin(), gpu.stream_waits.end());
    gpu.stream_waits.clear();
  }
  const TaskId task = collective({thread, op, size, label, gpus_[thread.gpu].compute_stream, inputs});
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    if (i != thread.gpu) gpus_[i].stream_waits.push_back(task);
  }
  return task;
}

TaskId Process::copy_between(const HostThread& thread, std::size_t from, std::size_t to, Bytes bytes,
                             Account account, LabelId label) {
  DrivenGpu &source = gpus_[from], &target = gpus_[to];
  const Cluster& cluster = request_.cluster;
  const Route route = cluster.route(cluster.gpu(source.place.node, source.place.gpu),
                                    cluster.gpu(target.place.node, target.place.gpu));
  std::vector<Dependency> after{
      {host(thread, host_costs().copy_call, Account::host), host_costs().launch_latency}};
  if (const TaskId last = graph_.last_on(source.compute_stream); last != kNone) after.push_back({last});
  for (const TaskId event : target.stream_waits) after.push_back({event});
  target.stream_waits.clear();
  Task copy = task_of(TaskKind::copy, account, target.compute_stream, route.latency);
  copy.label = label;
  // A copy engine does not fill the link. The rest is not available to others, hence the weight.
  copy.pattern = pattern_of(route, 1 / peer_copy_share(cluster, route));
  copy.traffic = bytes;
  // The source must not overwrite data that is still being copied, so its next kernel waits.
  source.stream_waits.push_back(graph_.add(copy, after));
  return source.stream_waits.back();
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

Task Process::input_copy(const DrivenGpu& gpu, QueueId stream, Bytes bytes, LabelId label) const {
  Task copy = task_of(TaskKind::copy, Account::input_stall, stream, gpu.input_latency);
  copy.label = label;
  copy.pattern = gpus_.size() == 1 ? node_input_pattern_ : gpu.input_pattern;
  copy.traffic = bytes;
  return copy;
}

TaskId Process::copy_to_device(const HostThread& thread, Bytes bytes, LabelId label) {
  const DrivenGpu& gpu = gpus_[thread.gpu];
  return enqueue(thread, on_this_host(host_costs().copy_call),
                 input_copy(gpu, gpu.compute_stream, bytes, label));
}

TaskId Process::copy_beside_compute(QueueId stream, TaskId ready, Bytes bytes, LabelId label) {
  return graph_.add(input_copy(gpus_.front(), stream, bytes, label), {{ready, host_costs().launch_latency}});
}

}  // namespace foretrain
