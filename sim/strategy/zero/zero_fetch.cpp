// Gathers of parameters in stage 3. All decisions follow from the trace and from numbers of elements, so they
// are taken when the step is planned. The clock only decides how long the compute stream waits.
#include <algorithm>
#include <utility>

#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kFetchesInFlight = 2;  ///< the host waits for the oldest when more are not done

/// Returns, per parameter, the layer whose backward completes its gradient: the first layer to use it. A
/// table may be declared by a layer without operators.
std::vector<std::uint32_t> layers_of_use(const ExpandedModel& model) {
  std::vector<std::uint32_t> layers;
  for (const Parameter& parameter : model.parameters) layers.push_back(parameter.layer);
  for (const BackwardStep& step : model.backward) {
    for (const std::uint32_t parameter : step.ready) layers[parameter] = step.op.layer;
  }
  return layers;
}

}  // namespace

std::vector<std::uint32_t> fetch_trace(const ExpandedModel& model) {
  std::vector<std::uint32_t> trace;
  for (const Operator& op : model.forward) {
    if (trace.empty() || trace.back() != op.layer) trace.push_back(op.layer);
  }
  const std::size_t forward = trace.size();
  for (const BackwardStep& step : model.backward) {
    if (trace.size() == forward || trace.back() != step.op.layer) trace.push_back(step.op.layer);
  }
  return trace;
}

ZeroFetch::ZeroFetch(Process& process, const ZeroSettings& settings)
    : process_(process),
      settings_(settings),
      options_(process.request().options<ZeroOptions>()),
      trace_(fetch_trace(*process.request().workload.model)),
      stream_(process.graph().add_queue("all-gather stream")),
      drive_(process.add_thread("NVMe reads")),
      gather_label_(process.graph().label("all_gather of parameters")),
      copy_label_(process.graph().label("copy of gathered parameters")),
      host_label_(process.graph().label("parameters from host memory")) {
  const ExpandedModel& model = *process.request().workload.model;
  const std::size_t layers = model.layer_names.size();
  elements_.assign(layers, 0), parameters_.assign(layers, 0);
  gathered_.assign(layers, kNone), waited_.assign(layers, false), wanted_.assign(layers, 0);
  asked_by_.assign(layers, 0);
  const std::vector<std::uint32_t> users = layers_of_use(model);
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
    const std::int64_t elements = model.parameters[i].elements;
    const bool stays = elements <= options_.param_persistence_threshold;
    // Small parameters stay whole on every rank; all others belong to the layer that uses them first.
    (stays ? persistent_ : elements_[users[i]]) += elements;
    if (stays)
      persistent_sizes_.push_back(elements);
    else
      ++parameters_[users[i]];
  }
  // Frozen parameters are partitioned and gathered like the others; packed ones travel as they are stored.
  for (const Parameter& parameter : model.frozen) {
    const std::int64_t elements =
        is_quantised(parameter.packed) ? parameter.bytes() / settings_.element_bytes : parameter.elements;
    if (elements <= options_.param_persistence_threshold) continue;
    elements_[parameter.layer] += elements;
    ++parameters_[parameter.layer];
  }
  measure_trace();
}

// Prefix sums and next visits make distances along the trace available in constant time.
void ZeroFetch::measure_trace() {
  elements_before_.assign(trace_.size() + 1, 0);
  for (std::size_t i = 0; i < trace_.size(); ++i)
    elements_before_[i + 1] = elements_before_[i] + elements_[trace_[i]];
  next_visit_.assign(trace_.size(), trace_.size());
  std::vector<std::size_t> seen(elements_.size(), trace_.size());
  // The walk is from the end, so that `seen` holds the next place of each layer.
  for (std::size_t i = trace_.size(); i-- > 0;) {
    next_visit_[i] = seen[trace_[i]];
    seen[trace_[i]] = i;
  }
}

void ZeroFetch::begin_iteration() {
  step_ = queue_ = 0;
  std::fill(wanted_.begin(), wanted_.end(), 0);
  iteration_start_ = process_.last_kernel();
  prefetch(process_.main_thread());
}

/// Copies the shards of all parameters from the host, as param.ds_tensor.to(device) does; the host waits for
/// each copy (_all_gather_dtype in partition_parameters.py). Shards on NVMe are read before.
TaskId ZeroFetch::shards_from_host(const HostThread& thread, Bytes shard, std::int64_t parameters) {
  TaskId ready = kNone;
  if (settings_.param_on_nvme)
    ready =
        process_.host_for(drive_, seconds(drive_read_s(process_.request(), static_cast<double>(shard.count))),
                          Account::exposed_communication);
  const TaskId call = process_.host(
      thread, (process_.calls().scalar + process_.host_costs().copy_call) * parameters, Account::host);
  const TaskId before[] = {call, ready, iteration_start_};
  const TaskId copied = process_.host_copy({.stream = stream_,
                                            .bytes = shard,
                                            .pinned = settings_.pinned,
                                            .account = Account::exposed_communication,
                                            .label = host_label_,
                                            .after = before});
  process_.synchronize(thread, copied);
  return copied;
}

/// Gathers layers in one message: their shards are put together, gathered, and copied to the place where each
/// parameter is whole.
void ZeroFetch::gather(const HostThread& thread, const std::vector<std::uint32_t>& layers) {
  std::int64_t elements = 0, parameters = 0;
  for (const std::uint32_t layer : layers) elements += elements_[layer], parameters += parameters_[layer];
  if (elements == 0) return;
  const std::int64_t bytes = settings_.element_bytes * elements;
  // The gather may begin once the shards are there: from the host, or from the optimizer.
  std::vector<TaskId> start;
  if (settings_.offload_param)
    start = {shards_from_host(thread, {bytes / settings_.ranks}, parameters)};
  else if (iteration_start_ != kNone)
    start = {iteration_start_};
  const TaskId packed =
      process_.launch_on_side_stream({thread, stream_, {2 * bytes / settings_.ranks}, copy_label_, start});
  TaskId whole = process_.collective({thread,
                                      CollectiveOp::all_gather,
                                      {bytes},
                                      gather_label_,
                                      kNone,
                                      {&packed, 1},
                                      Group::world,
                                      settings_.element_type()});
  // A single parameter is gathered in place; several need a copy out of the message.
  if (parameters > 1)
    whole = process_.launch_on_side_stream({thread, stream_, {2 * bytes}, copy_label_, {&whole, 1}});
  for (const std::uint32_t layer : layers) gathered_[layer] = whole, waited_[layer] = false;
  live_ += elements;
  most_live_ = std::max(most_live_, live_);
}

/// Makes the compute stream wait for a layer, once. The host waits for the oldest gather when too many run.
void ZeroFetch::wait_for(const HostThread& thread, std::uint32_t layer) {
  if (gathered_[layer] == kNone || waited_[layer]) return;
  waited_[layer] = true;
  if (fetches_.size() > kFetchesInFlight) {
    process_.synchronize(thread, fetches_.front());
    fetches_.pop_front();
  }
  fetches_.push_back(gathered_[layer]);
  process_.stream_waits_for(gathered_[layer]);
}

/// Gathers up to prefetch_bucket_size further elements, as DeepSpeed does at every module, while no more than
/// max_live_parameters are whole.
void ZeroFetch::prefetch(const HostThread& thread) {
  const std::int64_t most = std::min(options_.max_live_parameters - live_, options_.prefetch_bucket_size);
  std::vector<std::uint32_t> layers;
  ++prefetches_;
  std::int64_t elements = 0;
  // A layer that is whole already, or asked for twice, is counted on but not gathered again.
  while (queue_ < trace_.size() && elements < most) {
    const std::uint32_t layer = trace_[queue_++];
    wanted_[layer] = std::max(wanted_[layer], queue_);
    if (gathered_[layer] != kNone || std::exchange(asked_by_[layer], prefetches_) == prefetches_) continue;
    layers.push_back(layer);
    elements += elements_[layer];
  }
  gather(thread, layers);
}

/// True where the trace comes back to the layer within max_reuse_distance elements, or a prefetch has counted
/// on it. `step_` is the place behind the layer.
bool ZeroFetch::is_reused(std::uint32_t layer) const {
  if (wanted_[layer] > step_) return true;
  const std::size_t next = next_visit_[step_ - 1];
  return next < trace_.size() &&
         elements_before_[next] - elements_before_[step_] < options_.max_reuse_distance;
}

/// Frees a layer that is not needed again soon.
void ZeroFetch::release(const HostThread& thread, std::uint32_t layer) {
  process_.host(thread, process_.calls().zero_release, Account::host);
  if (gathered_[layer] == kNone || is_reused(layer)) return;
  gathered_[layer] = kNone;
  live_ -= elements_[layer];
}

void ZeroFetch::enter(const HostThread& thread, std::uint32_t layer) {
  // The order is DeepSpeed's: release, fetch, wait, then prefetch from the place behind this one.
  leave(thread);
  current_ = layer;
  process_.host(thread, process_.calls().zero_fetch, Account::host);
  if (gathered_[layer] == kNone) gather(thread, {layer});
  wait_for(thread, layer);
  queue_ = std::max(queue_, step_ + 1);
  wanted_[layer] = std::max(wanted_[layer], step_ + 1);
  prefetch(thread);
  ++step_;
}

void ZeroFetch::leave(const HostThread& thread) {
  if (current_ != kNone) release(thread, current_);
  current_ = kNone;
}

}  // namespace foretrain
