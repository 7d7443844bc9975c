// One step of a PyTorch script on one process. Host costs come from the tables of workload/device; the order of calls is the script's.
#include "sim/strategy/training_step.hpp"

#include <algorithm>

namespace foretrain {

namespace {

constexpr std::int64_t kLabelBytes = 8;
constexpr std::int64_t kFloatBytes = 4;
constexpr Time kPinningCall = Time{50'000'000};  ///< 50 us per batch in the pinning thread

bool is_cast_by_autocast(const Operator& op) {
  return op.cls == OperatorClass::conv || op.cls == OperatorClass::depthwise_conv || op.cls == OperatorClass::gemm;
}

/// Elements of the weights that autocast converts to 16 bit in each forward pass, per layer.
std::vector<std::int64_t> find_cast_elements(const ExpandedModel& model) {
  std::vector<std::int64_t> elements(model.layer_names.size(), 0);
  std::vector<bool> casts(model.layer_names.size(), false);
  for (const Operator& op : model.forward) casts[op.layer] = casts[op.layer] || is_cast_by_autocast(op);
  for (const Parameter& parameter : model.parameters) {
    if (casts[parameter.layer]) elements[parameter.layer] += parameter.elements;
  }
  return elements;
}

std::vector<std::int64_t> tensor_sizes(const ExpandedModel& model) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

}  // namespace

Bytes batch_bytes(const Workload& workload) {
  const Bytes sample =
      workload.data.sample_bytes.count > 0 ? workload.data.sample_bytes : Bytes{kFloatBytes * workload.model->input_elements + kLabelBytes};
  return sample * workload.batch_per_gpu;
}

LoaderPace loader_pace(const Workload& workload, const NodeSpec& node) {
  LoaderPace pace;
  const int cores = workload.data.cores_per_gpu > 0 ? workload.data.cores_per_gpu : std::max(1, node.host.cores / std::max(1, node.gpus));
  pace.workers_at_once = std::max(1, std::min(workload.data.workers_per_gpu, cores));
  const double decode = to_seconds(workload.data.decode) * static_cast<double>(workload.batch_per_gpu) * node.host.slowdown;
  pace.one_batch = seconds(decode) + batch_bytes(workload) / node.host.memory_bandwidth;
  pace.interval = pace.one_batch / pace.workers_at_once;
  return pace;
}

TrainingStep::TrainingStep(Process& process)
    : process_(process),
      workload_(process.request().workload),
      model_(*workload_.model),
      cast_elements_(is_half(workload_.precision) ? find_cast_elements(model_) : std::vector<std::int64_t>(model_.layer_names.size(), 0)),
      optimizer_launches_(optimizer_launches(workload_.optimizer, tensor_sizes(model_))),
      input_label_(process.graph().label("input batch")),
      optimizer_label_(process.graph().label("optimizer")),
      gradient_label_(process.graph().label("gradient")) {
  labels_.reserve(model_.layer_names.size());
  for (const std::string& name : model_.layer_names) labels_.push_back(process.graph().label(name));
}

void TrainingStep::take_batch_from_workers() {
  const LoaderPace pace = loader_pace(workload_, process_.request().cluster.spec().node);
  const Bytes bytes = batch_bytes(workload_);
  // A worker gets its next batch when the loop takes one: at most prefetch x workers batches are ahead.
  const auto ahead = static_cast<std::size_t>(std::max(1, workload_.data.prefetch) * workload_.data.workers_per_gpu);
  const bool must_wait = batches_taken_.size() >= ahead;
  TaskId ready =
      must_wait ? process_.host_for(process_.loader, pace.interval, Account::input_stall, {{batches_taken_[batches_taken_.size() - ahead]}})
                : process_.host_for(process_.loader, pace.interval, Account::input_stall);
  if (workload_.data.pinned) {
    const Time pin = bytes / process_.host_cpu().memory_bandwidth + kPinningCall;
    ready = process_.host_for(process_.pinner, pin, Account::input_stall, {{ready}});
  }
  const HostCalibration& costs = process_.host_costs();
  const Time unmap = seconds(costs.loader_seconds_per_byte * static_cast<double>(bytes.count));
  batches_taken_.push_back(
      process_.host_for(process_.main_thread, process_.on_this_host(costs.loader_next + unmap), Account::host, {{ready}}));
}

void TrainingStep::load_batch() {
  if (workload_.data.workers_per_gpu > 0) {
    take_batch_from_workers();
  } else {
    const double decode = to_seconds(workload_.data.decode) * static_cast<double>(workload_.batch_per_gpu);
    process_.host(process_.main_thread, seconds(decode), Account::host);
  }
  process_.copy_to_device(process_.main_thread, batch_bytes(workload_), input_label_);
  if (!workload_.loop.non_blocking) process_.synchronize(process_.main_thread);
}

void TrainingStep::zero_gradients() {
  using ZeroGrad = TrainingLoop::ZeroGrad;
  if (workload_.loop.zero_grad == ZeroGrad::none) return;
  const Time per_tensor = microseconds(workload_.loop.zero_grad == ZeroGrad::zero ? 0.41 : 0.2);
  if (workload_.loop.zero_grad == ZeroGrad::set_to_none) {
    process_.host(process_.main_thread, per_tensor * static_cast<std::int64_t>(model_.parameters.size()), Account::host);
    return;
  }
  for (const Parameter& parameter : model_.parameters) {
    process_.launch_copy(process_.main_thread, {kFloatBytes * parameter.elements}, per_tensor, Account::optimizer, optimizer_label_);
  }
}

void TrainingStep::launch_operator(QueueId thread, const Operator& op) {
  const Time host = host_time(op, process_.host_cpu(), process_.host_costs(), workload_.precision);
  const Time kernel = kernel_time(op, process_.gpu(), process_.kernels(), workload_.precision, workload_.batch_per_gpu);
  process_.launch(thread, host, kernel, Account::compute, labels_[op.layer]);
}

/// Autocast reads 4 and writes 2 bytes per weight before its first use, and the other way round for the gradient.
void TrainingStep::cast_weights(QueueId thread, std::uint32_t layer) {
  if (cast_elements_[layer] > 0)
    process_.launch_copy(thread, {6 * cast_elements_[layer]}, microseconds(2), Account::compute, labels_[layer]);
}

bool TrainingStep::loss_is_read() const { return workload_.loop.loss_item_every > 0 && step_ % workload_.loop.loss_item_every == 0; }

void TrainingStep::forward() {
  for (const Operator& op : model_.forward) {
    if (is_cast_by_autocast(op)) cast_weights(process_.main_thread, op.layer);
    launch_operator(process_.main_thread, op);
  }
  if (loss_is_read() && workload_.loop.loss_item_before_backward) process_.synchronize(process_.main_thread);
}

void TrainingStep::backward(bool accumulating, const GradientHook& hook) {
  const QueueId thread = process_.autograd_thread;
  process_.hand_over(process_.main_thread, thread);
  for (const BackwardStep& step : model_.backward) {
    launch_operator(thread, step.op);
    if (!step.ready.empty()) cast_weights(thread, step.op.layer);
    for (const std::uint32_t parameter : step.ready) {
      const bool adds = accumulating || workload_.loop.zero_grad != TrainingLoop::ZeroGrad::set_to_none;
      const Bytes gradient{3 * kFloatBytes * model_.parameters[parameter].elements};
      if (adds) process_.launch_copy(thread, gradient, microseconds(1), Account::compute, gradient_label_);
      if (hook) hook(parameter);
    }
  }
  process_.hand_over(thread, process_.main_thread);
}

TaskId TrainingStep::optimize() {
  const QueueId thread = process_.main_thread;
  if (workload_.precision == Precision::amp_fp16) {
    // unscale and look for infinities (read and write every gradient), then GradScaler reads the flag: `.item()`.
    process_.launch_copy(thread, {2 * kFloatBytes * model_.parameter_elements()}, microseconds(20), Account::optimizer, optimizer_label_);
    process_.synchronize(thread);
  }
  TaskId last = process_.last_kernel();
  for (const OptimizerLaunch& launch : optimizer_launches_) {
    last = process_.launch_copy(thread, launch.bytes, launch.host, Account::optimizer, optimizer_label_);
  }
  return last;
}

void TrainingStep::finish_step() {
  if (loss_is_read() && !workload_.loop.loss_item_before_backward) process_.synchronize(process_.main_thread);
  process_.host(process_.main_thread, workload_.loop.overhead + process_.host_costs().iteration, Account::host);
  ++step_;
}

}  // namespace foretrain
