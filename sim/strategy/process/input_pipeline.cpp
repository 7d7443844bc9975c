// The input pipeline of a process.
//
// In the steady state W workers that each make one batch deliver as often as one worker that is W times as
// fast. Therefore the workers are one queue whose tasks last as long as the narrowest of workers, cores and
// memory allows. Cores are shared by all threads that compute: over a step they do the work of the workers,
// the pin-memory thread and the script, in any order.
#include "sim/strategy/process/input_pipeline.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Returns the number of ranks on the node of the first rank.
int ranks_beside(const Placement& placement) {
  const auto& ranks = placement.ranks;
  return static_cast<int>(std::count_if(ranks.begin(), ranks.end(),
                                        [&](const GpuPlace& p) { return p.node == ranks.front().node; }));
}

/// Loaders other than torch's copy the next batch to the GPU by themselves.
bool copies_ahead(LoaderKind loader) { return loader != LoaderKind::torch; }

}  // namespace

InputSite input_site(const PlanRequest& request) {
  const ClusterSpec& cluster = request.cluster.spec();
  return {request.own_node(), steady_storage(request.workload, cluster, request.own_node().host),
          ranks_beside(request.placement), request.placement.size()};
}

InputSite input_site_of_one_process(const PlanRequest& request) {
  const ClusterSpec& cluster = request.cluster.spec();
  return {request.own_node(), steady_storage(request.workload, cluster, request.own_node().host)};
}

/// The common case: batches of the request's workload, for the GPU of this process alone.
InputPipeline::InputPipeline(Process& process)
    : InputPipeline(process, process.request().workload, input_site(process.request())) {}

InputPipeline::InputPipeline(Process& process, const Workload& workload, const InputSite& site, int sharers)
    : process_(process),
      workload_(workload),
      costs_(input_costs(workload_, site)),
      input_label_(process.graph().label("input batch")) {
  costs_.copied.count /= sharers, costs_.gpu_traffic.count /= sharers;
  if (costs_.storage > Time::zero()) storage_ = process.add_thread("storage");
  if (copies_ahead(workload_.data.loader)) copy_stream_ = process.graph().add_queue("copy stream");
}

Time InputPipeline::scaled(Time time) const {
  return seconds(to_seconds(time) * process_.request().device.input_time_scale);
}

/// Returns the interval that the cores allow, by conservation of work: all CPU time of a step over the cores
/// of the rank. Host tasks that are not the pipeline's own are the script's, and are counted since the last
/// call.
Time InputPipeline::cores_interval() {
  const std::vector<Task>& tasks = process_.graph().tasks();
  Time busy{};
  for (; tasks_seen_ < tasks.size(); ++tasks_seen_) {
    const Task& task = tasks[tasks_seen_];
    const bool is_input = task.queue == process_.loader().queue || task.queue == process_.pinner().queue ||
                          task.queue == storage_.queue;
    if (!is_input && task.kind == TaskKind::host) busy += task.duration;
  }
  // The tasks before the first batch belong to no step.
  if (!batches_taken_.empty() || steps_begun_) main_cpu_ = busy;
  return on_cores(scaled(costs_.worker_cpu) + scaled(costs_.pinning) + main_cpu_, costs_.cores);
}

/// Returns what a batch of a process without workers waits for. Its threads compute in a step at least as
/// long as their CPU time over the cores that the job was given. Reading from storage is waiting and needs no
/// core.
std::vector<Dependency> InputPipeline::turns_on_cores() {
  const DataSet& data = workload_.data;
  const bool is_given = data.cores_per_gpu > 0 && process_.request().workload.data.cores_per_gpu > 0;
  if (!is_given) return {};
  const bool loads = data.loader != LoaderKind::none;
  const Time loading = loads ? scaled(costs_.worker_cpu) + scaled(costs_.pinning) : Time::zero();
  cores_interval();
  // `main_cpu_` contains the loading in the main thread, which is subtracted and then added at its own CPU
  // time.
  const Time cpu =
      main_cpu_ - std::min(main_cpu_, inline_load_) + (main_cpu_ > Time::zero() ? loading : Time::zero());
  steps_begun_ = true;
  return {{process_.host_for(process_.loader(), on_cores(cpu, costs_.cores), Account::host)}};
}

/// The loader's queue takes one task per batch, as long as the narrowest of workers, memory and cores.
/// Storage and pinning are queues before and behind it.
TaskId InputPipeline::make_batch() {
  const Time interval = std::max({scaled(costs_.workers), scaled(costs_.memory), cores_interval()});
  const bool by_worker = workload_.data.loader == LoaderKind::torch;
  const auto ahead = static_cast<std::size_t>(std::max(1, workload_.data.prefetch) *
                                              (by_worker ? workload_.data.workers_per_gpu : 1));
  std::vector<Dependency> after;
  // Back-pressure: a worker starts a batch only when the batch `ahead` places before it was taken.
  if (batches_taken_.size() >= ahead) after.push_back({batches_taken_[batches_taken_.size() - ahead]});
  if (storage_.queue != kNone)
    after = {{process_.host_for(storage_, scaled(costs_.storage), Account::input_stall, after)}};
  TaskId ready = process_.host_for(process_.loader(), interval, Account::input_stall, after);
  if (costs_.pinning > Time::zero()) {
    ready = process_.host_for(process_.pinner(), scaled(costs_.pinning), Account::input_stall, {{ready}});
  }
  return ready;
}

/// The main thread loads the batch itself where there are no workers, and reading overlaps with nothing.
void InputPipeline::load_in_main_thread() {
  const Time made = scaled(costs_.one_batch) + scaled(costs_.pinning);
  const std::vector<Dependency> after = turns_on_cores();
  inline_load_ = std::max(made, scaled(costs_.storage));
  batches_taken_.push_back(
      process_.host_for(process_.main_thread(), inline_load_, Account::input_stall, after));
  process_.copy_to_device(process_.main_thread(), costs_.copied, input_label_);
}

/// The main thread takes a ready batch from the loader's queue.
void InputPipeline::take(TaskId ready) {
  const Time on_this_host = seconds(to_seconds(costs_.taking) * process_.host_costs().time_scale);
  batches_taken_.push_back(process_.host_for(process_.main_thread(), on_this_host, Account::host, {{ready}}));
}

void InputPipeline::take_and_copy(TaskId ready) {
  take(ready);
  process_.copy_to_device(process_.main_thread(), costs_.copied, input_label_);
}

/// Lets the loader copy the next batch while the GPU computes; the script takes it when the copy has ended.
void InputPipeline::copy_beside_compute(TaskId ready) {
  const TaskId copied = process_.copy_beside_compute(copy_stream_, ready, costs_.copied, input_label_);
  take(copied);
  process_.stream_waits_for(copied);
}

/// Kernels that decode images on the GPU, as one task that is bound by memory.
void InputPipeline::decode_on_gpu() {
  const Time kernel = memory_kernel_time(costs_.gpu_traffic, process_.gpu(), process_.kernels());
  process_.launch(process_.main_thread(), Time::zero(), kernel, Account::input_stall, input_label_);
}

/// Chooses the path of a batch by its loader.
void InputPipeline::load_batch() {
  if (workload_.data.loader == LoaderKind::none) {
    if (const std::vector<Dependency> after = turns_on_cores(); !after.empty())
      process_.host_for(process_.main_thread(), Time::zero(), Account::host, after);
    return process_.decisions().add("input pipeline", "none",
                                    "batches lie on the GPU; data.name or data.loader describes a loader");
  }
  if (workload_.data.workers_per_gpu == 0) {
    load_in_main_thread();
  } else if (copies_ahead(workload_.data.loader)) {
    copy_beside_compute(make_batch());
  } else {
    take_and_copy(make_batch());
  }
  if (costs_.gpu_traffic.count > 0) decode_on_gpu();
  // A blocking copy, or one from pageable memory, holds the script until the batch is on the GPU.
  const bool waits = !workload_.loop.non_blocking || !workload_.data.pinned;
  if (waits && !copies_ahead(workload_.data.loader)) process_.synchronize(process_.main_thread());
  // The second batch is the first whose interval knows the script's CPU time.
  if (batches_taken_.size() == 2) explain();
}

void InputPipeline::explain() const {
  const PlanRequest& request = process_.request();
  InputCosts costs = costs_;
  for (Time* time :
       {&costs.workers, &costs.worker_cpu, &costs.pinning, &costs.storage, &costs.memory, &costs.one_batch})
    *time = scaled(*time);
  explain_pipeline(workload_, costs, main_cpu_, process_.decisions());
  explain_storage(workload_, request.cluster.spec(), input_site(request), process_.decisions());
}

LoaderPace loader_pace(const Workload& workload, const NodeSpec& node) {
  const InputCosts costs = input_costs(workload, {node});
  return {std::max(costs.workers, on_cores(costs.worker_cpu, costs.cores)), costs.one_batch};
}

}  // namespace foretrain
