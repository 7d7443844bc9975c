// One step of a script on one process.
//
// Host costs come from the tables of workload/device, and the order of calls is the script's: a step is
// issued in the order in which the script's Python lines run, not in the order of the GPU's work. Host time
// is charged to the thread that makes the call: the main thread issues forward and the optimizer, autograd's
// thread issues backward. Every read of a value on the host, such as loss.item(), waits for the stream and
// ends the host's lead; that is why such reads are modelled one by one. The kernels' own times come from
// sim/workload/device, too.
#include "sim/strategy/step/training_step.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/device/script_time.hpp"

namespace foretrain {

namespace {

/// Kernels of an accuracy metric: top-k, compare, and for each k convert, sum, scale.
constexpr int kAccuracyKernels = 10;
/// Scores per sample that one such kernel reads or writes; assumed.
constexpr std::int64_t kScores = 10;
/// Values that a script with an accuracy metric reads on the host: the loss, top-1 and top-5.
constexpr int kItems = 3;

/// Autocast runs convolutions and matrix products in 16 bits.
bool is_cast_by_autocast(const Operator& op) {
  return op.cls == OperatorClass::conv || op.cls == OperatorClass::depthwise_conv ||
         op.cls == OperatorClass::gemm;
}

/// Returns by layer the elements of the weights that autocast converts to 16 bits in each forward pass.
/// Frozen weights are converted too.
std::vector<std::int64_t> find_cast_elements(const ExpandedModel& model) {
  std::vector<std::int64_t> elements(model.layer_names.size(), 0);
  std::vector<bool> casts(model.layer_names.size(), false);
  for (const Operator& op : model.forward) casts[op.layer] = casts[op.layer] || is_cast_by_autocast(op);
  for (const std::vector<Parameter>* parameters : {&model.parameters, &model.frozen}) {
    for (const Parameter& parameter : *parameters) {
      if (casts[parameter.layer]) elements[parameter.layer] += parameter.elements;
    }
  }
  return elements;
}

/// Returns by parameter whether Keras adds an L2 term to the loss, which it does in graph mode with weight
/// decay.
std::vector<bool> find_penalised(const Workload& workload, bool graph) {
  std::vector<bool> penalised(workload.model->parameters.size(), false);
  if (!workload.optimizer.weight_decay || !graph) return penalised;
  for (std::uint32_t i = 0; i < penalised.size(); ++i) penalised[i] = is_penalised(*workload.model, i);
  return penalised;
}

}  // namespace

TrainingStep::TrainingStep(Process& process) : TrainingStep(process, InputPipeline(process)) {}

TrainingStep::TrainingStep(Process& process, InputPipeline input, std::vector<std::int64_t> shards)
    : process_(process),
      input_(std::move(input)),
      threads_(process),
      launches_(process),
      update_(process, launches_, std::move(shards)),
      noise_(process, launches_),
      copies_(process),
      workload_(process.request().workload),
      model_(*workload_.model),
      // Weights that have 16 bits already are not converted again.
      cast_elements_(is_half(workload_.precision) && !has_half_weights(workload_) && !model_.keeps_types
                         ? find_cast_elements(model_)
                         : std::vector<std::int64_t>(model_.layer_names.size(), 0)),
      penalised_(find_penalised(workload_, launches_.is_graph())),
      optimizer_label_(process.graph().label("optimizer")),
      gradient_label_(process.graph().label("gradient")),
      metrics_label_(process.graph().label("metrics")) {
  labels_.reserve(model_.layer_names.size());
  for (const std::string& name : model_.layer_names) labels_.push_back(process.graph().label(name));
  explain();
}

/// Decisions are printed with a prediction, so only choices that a user may not expect are added.
void TrainingStep::explain() {
  const Framework& framework = workload_.framework;
  const auto say = [&](std::string subject, std::string choice, std::string why) {
    process_.decisions().add(std::move(subject), std::move(choice), std::move(why));
  };
  if (products_default_to_tf32(framework) && workload_.precision == Precision::fp32 &&
      process_.gpu().tf32 > process_.gpu().fp32) {
    say("matrix products", "TF32 although model.precision is fp32",
        fmt::format("{} by itself multiplies fp32 matrices in TF32 on this GPU", title_of(framework)));
  }
  if (framework.execution != executions_of(framework.kind).front()) {
    say("host calls", std::string(name_of(framework.execution)),
        fmt::format("{} issues the kernels that way", title_of(framework)));
  }
}

void TrainingStep::zero_gradients() {
  using ZeroGrad = TrainingLoop::ZeroGrad;
  if (workload_.loop.zero_grad == ZeroGrad::none || !launches_.profile().keeps_gradients) return;
  const Time call = process_.calls().zero_grad;
  if (workload_.loop.zero_grad == ZeroGrad::set_to_none) {
    // Each gradient's memory goes back to the allocator.
    const Time all = process_.calls().zero_grad_free * static_cast<std::int64_t>(model_.parameters.size());
    process_.host(process_.main_thread(), call + all, Account::host);
    return;
  }
  process_.host(process_.main_thread(), call, Account::host);
  for (const std::int64_t elements : update_.tensors()) {
    launches_.kernel(process_.main_thread(), update_.own_bytes(elements, kFloatBytes),
                     process_.calls().zero_grad_fill, Account::optimizer, optimizer_label_);
  }
}

/// Autocast converts each weight before its first use, and converts the weight's gradient back.
void TrainingStep::cast_weights(const HostThread& thread, std::uint32_t layer, Time reference) {
  if (cast_elements_[layer] == 0) return;
  launches_.kernel(thread, {kCastBytes * cast_elements_[layer]}, reference, Account::compute, labels_[layer]);
}

void TrainingStep::forward_operator(const HostThread& thread, const Operator& op, std::int64_t batch) {
  if (is_cast_by_autocast(op)) cast_weights(thread, op.layer, process_.host_costs().cast_call);
  copies_.before(op);
  launches_.operator_call(thread, op, labels_[op.layer], batch);
  copies_.behind(op);
}

void TrainingStep::end_forward() {
  record_losses();
  read_loss(threads_.forward, true);
}

void TrainingStep::forward() {
  begin_forward();
  for (const Operator& op : model_.forward) forward_operator(threads_.forward, op, workload_.batch_per_gpu);
  end_forward();
}

/// Issues the terms that Keras adds to the network's loss: L2 terms of the weights, and metrics.
void TrainingStep::record_losses() {
  for (std::uint32_t i = 0; i < penalised_.size(); ++i) {
    if (!penalised_[i]) continue;
    const Parameter& parameter = model_.parameters[i];
    launches_.nodes(threads_.forward, penalty_forward(parameter), Account::compute, labels_[parameter.layer]);
  }
  if (workload_.loop.hooks == LoopHooks::keras) {
    launches_.nodes(threads_.forward, metric_nodes(), Account::compute, metrics_label_);
  }
}

/// Reads the loss on the host, if the script does so here in this step. The accuracy metrics are computed
/// first, and each of their values is one read.
void TrainingStep::read_loss(const HostThread& thread, bool before_backward) {
  if (before_backward != workload_.loop.loss_item_before_backward ||
      !reads_loss(workload_.loop, workload_.framework, step_))
    return;
  // Each value but the last is read by the loop; the last line reads the loss itself.
  if (workload_.loop.metrics == LoopMetrics::accuracy) {
    const Bytes scores{kFloatBytes * kScores * workload_.batch_per_gpu};
    for (int i = 0; i < kAccuracyKernels; ++i)
      launches_.kernel(thread, scores, process_.calls().accuracy, Account::compute, metrics_label_);
    for (int i = 1; i < kItems; ++i) process_.synchronize(thread);
  }
  process_.synchronize(thread);
}

void TrainingStep::finish_gradient(const HostThread& thread, std::uint32_t parameter, bool adds) {
  const Parameter& p = model_.parameters[parameter];
  if (penalised_[parameter]) launches_.nodes(thread, penalty_backward(p), Account::compute, labels_[p.layer]);
  if (adds)
    launches_.kernel(thread, {kAddPasses * p.bytes()}, process_.calls().accumulate, Account::compute,
                     gradient_label_);
  noise_.on_gradient(thread, parameter);
}

bool TrainingStep::keeps_gradients() const {
  return launches_.profile().keeps_gradients &&
         workload_.loop.zero_grad != TrainingLoop::ZeroGrad::set_to_none;
}

void TrainingStep::begin_backward() {
  process_.enter(StepPass::backward);
  update_.scale_loss(threads_.forward);
  process_.hand_over(threads_.forward, threads_.backward);
  launches_.begin_backward(threads_.backward);
}

/// Converting a weight's gradient back to fp32 is charged half the host cost of converting the weight.
void TrainingStep::backward_operator(const HostThread& thread, const BackwardStep& step, std::int64_t batch) {
  copies_.before(step);
  launches_.operator_call(thread, step.op, labels_[step.op.layer], batch);
  if (!step.ready.empty()) cast_weights(thread, step.op.layer, process_.host_costs().cast_call / 2);
}

void TrainingStep::backward(bool accumulating, const GradientHook& hook) {
  const HostThread& thread = threads_.backward;
  const bool keeps = keeps_gradients();
  // A framework that compiles whole steps hands out all gradients when the last of them is computed.
  const bool at_the_end = gradients_come_together(workload_.framework);
  const auto finish = [&](const BackwardStep& step) {
    for (const std::uint32_t parameter : step.ready) {
      finish_gradient(thread, parameter, accumulating || keeps);
      if (hook) hook(parameter);
    }
  };
  begin_backward();
  for (const BackwardStep& step : model_.backward) {
    backward_operator(thread, step, workload_.batch_per_gpu);
    if (!at_the_end) finish(step);
  }
  if (at_the_end) std::for_each(model_.backward.begin(), model_.backward.end(), finish);
  process_.hand_over(thread, threads_.forward);
}

void TrainingStep::finish_step() {
  read_loss(process_.main_thread(), false);
  process_.host(process_.main_thread(), loop_time(workload_.loop) + process_.host_costs().iteration,
                Account::host);
  ++step_;
}

}  // namespace foretrain
