// The queue of gradients. Hooks run on the host's timeline, ahead of the GPU. A hook hands over the event
// behind the kernel that will write the gradient.
#include <utility>

#include "sim/strategy/horovod/horovod_thread.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// True for an eager tape, which returns when it has launched all of backward. For XLA the step itself holds
/// gradients back.
bool is_tape(const Framework& framework) {
  return !profile_of(framework).has_autograd_engine && framework.execution == Execution::eager;
}

}  // namespace

GradientQueue::GradientQueue(Process& process, const HorovodSettings& settings)
    : process_(process),
      settings_(settings),
      sparse_(sparse_gradients(process.request())),
      framework_(process.request().workload.framework),
      is_tape_(is_tape(framework_)),
      compress_label_(process.graph().label("compress gradient")),
      hook_label_(process.graph().label("Horovod hook")) {}

// TensorFlow hands a gradient over in an operator of the graph, PyTorch in a Python hook.
Time GradientQueue::call_cost() const {
  const HostCalibration& costs = process_.host_costs();
  return profile_of(framework_).horovod_is_operator ? costs.node + costs.hand_over_node + costs.event
                                                    : process_.calls().horovod_hook;
}

void GradientQueue::count_down() {
  if (profile_of(framework_).horovod_is_operator) return;
  process_.host(process_.autograd_thread(), process_.calls().horovod_count_down, Account::host, hook_label_);
}

void GradientQueue::enqueue(const HostThread& thread, std::uint32_t parameter, TaskId ready) {
  const std::int64_t elements = process_.request().workload.model->parameters[parameter].elements;
  if (settings_.compresses && !sparse_[parameter]) {
    const Time cast = profile_of(framework_).horovod_is_operator ? process_.host_costs().node
                                                                 : process_.calls().horovod_cast;
    ready = process_.launch_copy(thread, {kCastBytes * elements}, cast, Account::other, compress_label_);
  }
  enqueued_.push_back({parameter, process_.host(thread, call_cost(), Account::host, hook_label_), ready});
}

void GradientQueue::on_gradient(std::uint32_t parameter) {
  if (is_tape_)
    held_back_.push_back(parameter);
  else
    enqueue(process_.autograd_thread(), parameter, process_.last_kernel());
}

void GradientQueue::end_backward() {
  const TaskId last = process_.last_kernel();
  for (const std::uint32_t parameter : std::exchange(held_back_, {}))
    enqueue(process_.main_thread(), parameter, last);
}

}  // namespace foretrain
