// The background thread's tasks. A cycle is a host task that waits for its moment and for the gradients that
// it found; its messages follow in order. Copies into and out of the fusion buffer run on Horovod's stream,
// beside backward.
#include "sim/strategy/horovod/horovod_thread.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kBatch = 160;  ///< BATCHED_D2D_CAPACITY: tensors copied by one kernel

Negotiation negotiation_of(const Process& process, const HorovodSettings& settings) {
  const PlanRequest& request = process.request();
  return {small_message_rounds(request.cluster, request.placement, process.calls()), request.placement.size(),
          settings.cache, process.on_this_host(process.calls().horovod_request)};
}

}  // namespace

HorovodThread::HorovodThread(Process& process, const HorovodSettings& settings)
    : process_(process),
      settings_(settings),
      negotiation_(negotiation_of(process, settings)),
      thread_(process.add_thread("Horovod's background thread")),
      reduction_(process, settings, thread_),
      gathering_(process, settings, thread_),
      handed_over_(process.request().workload.model->parameters.size()),
      cycle_label_(process.graph().label("Horovod cycle")),
      launch_label_(process.graph().label("Horovod launches a message")),
      in_label_(process.graph().label("copy into fusion buffer")),
      out_label_(process.graph().label("copy out of fusion buffer")),
      take_back_label_(process.graph().label("take gradients back")),
      decompress_label_(process.graph().label("decompress gradient")) {}

CycleRules HorovodThread::rules() const {
  return {.cycle_time = settings_.cycle_time,
          .threshold = settings_.threshold,
          .padded = settings_.batched_copies,
          .waits_for_data = settings_.waits_for_data || reduction_.blocks(),
          .negotiation = [this](std::size_t tensors) { return negotiation_.of_cycle(tensors); },
          .launch = [this](const FusedMessage& message) { return launch_time(message); }};
}

/// Returns the number of kernels, or of single copies, in one direction.
std::size_t HorovodThread::copies_of(const FusedMessage& message) const {
  if (!message.is_fused()) return 0;
  const std::size_t tensors = message.parameters.size();
  return settings_.batched_copies ? (tensors + kBatch - 1) / kBatch : tensors;
}

// The clock of the rehearsal needs the work of the thread for a message, once its data are there.
Time HorovodThread::launch_time(const FusedMessage& message) const {
  const HostCalibration& costs = process_.host_costs();
  const auto tensors = static_cast<std::int64_t>(message.parameters.size());
  const auto copies = static_cast<std::int64_t>(copies_of(message));
  const Time held =
      is_sparse(message) ? gathering_.held(message.parameters.front()) : reduction_.held(message.size);
  return process_.on_this_host((process_.calls().horovod_response + costs.event) * tensors +
                               costs.launch * (2 * copies)) +
         held;
}

/// Copies a message into or out of the fusion buffer: each tensor is read and written once.
TaskId HorovodThread::copy(const FusedMessage& message, LabelId label, std::span<const TaskId> after) {
  const std::size_t step = settings_.batched_copies ? kBatch : 1;
  const std::vector<Parameter>& parameters = process_.request().workload.model->parameters;
  TaskId last = kNone;
  for (std::size_t first = 0; first < message.parameters.size(); first += step) {
    std::int64_t bytes = 0;
    for (std::size_t i = first; i < std::min(first + step, message.parameters.size()); ++i)
      bytes += settings_.element_bytes * parameters[message.parameters[i]].elements;
    last = process_.launch_on_side_stream({thread_, process_.nccl_stream(), {2 * bytes}, label, after});
  }
  return last;
}

TaskId HorovodThread::reduce(const FusedMessage& message, LabelId label, TaskId ready) {
  if (message.is_fused()) ready = copy(message, in_label_, std::span(&ready, 1));
  const TaskId last = reduction_.reduce(message.size, label, std::span(&ready, 1));
  return message.is_fused() ? copy(message, out_label_, {}) : last;
}

void HorovodThread::perform(const FusedMessage& message, LabelId label) {
  const HostCalibration& costs = process_.host_costs();
  TaskId ready = 0;  // all gradients come from one stream: the latest kernel is the last to end
  for (const std::uint32_t parameter : message.parameters)
    ready = std::max(ready, handed_over_[parameter].ready);
  // Before 0.23 the thread itself polls for the data; later the GPU waits for them.
  if (settings_.waits_for_data)
    process_.host_for(thread_, {}, Account::exposed_communication, {{ready, costs.sync_wake}});
  process_.host(thread_,
                (process_.calls().horovod_response + costs.event) *
                    static_cast<std::int64_t>(message.parameters.size()),
                Account::host, launch_label_);
  const TaskId last = is_sparse(message) ? gathering_.gather(message.parameters.front(), ready)
                                         : reduce(message, label, ready);
  done_.push_back({last, message.parameters});
}

void HorovodThread::add_cycles(const std::vector<Cycle>& cycles, TaskId origin,
                               const std::vector<Enqueued>& gradients) {
  for (const Enqueued& gradient : gradients) handed_over_[gradient.parameter] = gradient;
  // Messages are numbered over the whole step.
  std::size_t number = 0;
  for (const Cycle& cycle : cycles) {
    TaskId newest = 0;  // hooks run on one thread, one after the other
    for (const FusedMessage& message : cycle.messages) {
      for (const std::uint32_t parameter : message.parameters)
        newest = std::max(newest, handed_over_[parameter].call);
    }
    Task task;
    task.account = static_cast<std::uint8_t>(Account::exposed_communication);
    task.queue = thread_.queue;
    task.duration = cycle.negotiation;
    task.label = cycle_label_;
    // The cycle begins at its rehearsed time, but never before its gradients are in the queue.
    process_.graph().add(task, {{origin, cycle.start}, {newest}});
    for (const FusedMessage& message : cycle.messages) {
      perform(message, process_.graph().label(fmt::format("all_reduce message {}", number++)));
    }
  }
}

/// Takes the gradients of a message back on the main thread: it waits, and decompresses or adds rows.
void HorovodThread::take_back(const Done& done) {
  const HostThread thread = process_.main_thread();
  const bool is_operator = profile_of(process_.request().workload.framework).horovod_is_operator;
  const HostCalibration& costs = process_.host_costs();
  process_.host_for(thread, {}, Account::exposed_communication, {{done.last, costs.sync_wake}});
  const Time call = is_operator ? costs.hand_over_node : process_.calls().horovod_take_back;
  process_.host(thread, call * static_cast<std::int64_t>(done.parameters.size()), Account::host,
                take_back_label_);
  if (gathering_.is_sparse(done.parameters.front()))
    return gathering_.add_rows(thread, done.parameters.front());
  // Compressed gradients are cast back one by one.
  if (!settings_.compresses) return;
  for (const std::uint32_t parameter : done.parameters) {
    const std::int64_t elements = process_.request().workload.model->parameters[parameter].elements;
    process_.launch_copy(thread, {kCastBytes * elements},
                         is_operator ? costs.node : process_.calls().horovod_cast, Account::other,
                         decompress_label_);
  }
}

void HorovodThread::synchronize() {
  for (const Done& done : std::exchange(done_, {})) take_back(done);
}

}  // namespace foretrain
