// The tape of a forward pass and its reversal into the backward pass.
//
// Autograd runs the ready node that was created last. Every consumer of a tensor is created after its
// producer. The node created last among those not yet run is therefore always ready, and the order is simply
// the reversed tape. A gradient that meets an earlier one is added by an operator of its own. That operator
// stands right after the node that made the gradient, and before the parameters of that node are reported as
// ready.
//
// The tape holds what autograd saves. An operator says which of its operands and results backward reads; a
// tensor lives until the last node that reads it has run. The memory of activations follows from these
// lifetimes and is not a sum over layers. Recording and reversal take time linear in the number of operators
// and tensors.
#include "sim/workload/tape/tape.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/workload/layers/shared_weights.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

namespace {

/// True for a backward operator whose only result is the gradient of weights.
bool makes_weights_only(const Operator& op) {
  if (op.cls == OperatorClass::embedding || op.cls == OperatorClass::reduction) return true;
  return op.product_count == 1 && op.products[0].grows == Product::Grows::depth;
}

/// Removes the product that makes the gradient of the weights: the second one of the operator.
void drop_weight_product(Operator& op) {
  if (op.product_count < 2) return;
  const Product& product = op.products[1];
  op.flops.per_sample -= product.flops_per_sample();
  op.bytes.fixed -= product.bytes.fixed, op.bytes.per_sample -= product.bytes.per_sample;
  op.kernels -= 1, op.product_count = 1;
}

/// Returns the steps that remain where frozen parameters get no gradient. A step that made nothing else is
/// removed.
std::vector<BackwardStep> without_frozen(std::vector<BackwardStep> steps) {
  std::vector<BackwardStep> out;
  for (BackwardStep& step : steps) {
    const std::size_t named = step.ready.size();
    std::erase_if(step.ready, [](std::uint32_t parameter) { return !Tape::trains(parameter); });
    const bool is_frozen = named > 0 && step.ready.empty();
    if (is_frozen && makes_weights_only(step.op)) continue;
    if (is_frozen) drop_weight_product(step.op);
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace

Tape::Tape(std::string model_name, FineTuning tuning)
    : lifetimes_(tuning.is_compiled), trainability_(std::move(tuning)) {
  model_.name = std::move(model_name), model_.modules = 1;
  lifetimes_.upcast(trainability_.tuning().upcast);
}

void Tape::fail(std::string message, std::string hint) {
  if (failure_.empty()) failure_ = std::move(message), failure_hint_ = std::move(hint);
}

// The label of shared weights and the number of calls of a recurrence hold for one layer.
void Tape::begin_layer(std::string path) {
  model_.layer_names.push_back(std::move(path));
  model_.layer_traces.emplace_back();
  label_.clear(), steps_ = 1;
  trained_since_result_ = trainability_.is_everything(), begins_parameters_ = true;
}

// The last tensor of a layer is its result, which layer_traces reports.
TensorId Tape::add_tensor(TapeTensor tensor) {
  model_.largest_activation_elements = std::max(model_.largest_activation_elements, tensor.shape.elements());
  if (!model_.layer_traces.empty()) model_.layer_traces.back().result = tensor.shape;
  tensor.part = part_;
  tensors_.push_back(tensor);
  return static_cast<TensorId>(tensors_.size() - 1);
}

// Token indices are int64; other tensors count with fp32 elements.
std::uint32_t Tape::add_storage(const Shape& shape) {
  storage_saved_.push_back(0);
  storage_bytes_.push_back(part_ * (shape.kind == ShapeKind::tokens ? 8 : 4) *
                           static_cast<double>(shape.elements()));
  return static_cast<std::uint32_t>(storage_saved_.size() - 1);
}

TensorId Tape::input(const Shape& shape, bool needs_gradient) {
  model_.input_elements += shape.elements();
  const TensorId batch = add_tensor({shape, needs_gradient, add_storage(shape), false});
  lifetimes_.make_input(storage_bytes_.back(), shape.kind != ShapeKind::tokens);
  return batch;
}

TensorId Tape::result(const Shape& shape, const std::vector<TensorId>& parents, bool trained) {
  bool needs_gradient = trained && trained_since_result_;
  begins_parameters_ = true;
  std::vector<LifetimeRecorder::Storage> read;
  for (const TensorId parent : parents) {
    needs_gradient = needs_gradient || tensors_[parent].needs_gradient;
    read.push_back(tensors_[parent].storage);
  }
  const TensorId made = add_tensor({shape, needs_gradient, add_storage(shape), false});
  lifetimes_.make(storage_bytes_.back(), read);
  unsettled_.push_back(tensors_[made].storage);
  return made;
}

TensorId Tape::alias(const Shape& shape, TensorId parent) {
  const TapeTensor from = tensors_[parent];
  lifetimes_.read(from.storage);
  return add_tensor({shape, from.needs_gradient, from.storage, from.is_view});
}

TensorId Tape::view(const Shape& shape, TensorId parent) {
  const TensorId made = alias(shape, parent);
  tensors_[made].is_view = true;
  return made;
}

const std::vector<TensorId>* Tape::named(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

// The first parameter after a result begins a new node, whose parameters decide whether it trains.
std::uint32_t Tape::parameter(std::string_view suffix, std::int64_t elements) {
  if (std::exchange(begins_parameters_, false)) trained_since_result_ = trainability_.is_everything();
  std::uint32_t parameter = 0;
  // Adapters have parameters of their own even in layers that share their weights.
  if (label_.empty() || in_adapter_) {
    parameter = add_parameter(fmt::format("{}.{}", layer_path(), suffix), elements);
  } else {
    const auto [known, is_new] = shared_.try_emplace(fmt::format("{}.{}", label_, suffix), 0);
    if (is_new) known->second = add_parameter(fmt::format("{}.{}", layer_path(), suffix), elements);
    parameter = known->second;
    sharing_fault_ = sharing_fault_ || elements_of(parameter) != elements;
  }
  trained_since_result_ = trained_since_result_ || trains(parameter);
  return parameter;
}

std::uint32_t Tape::add_parameter(std::string name, std::int64_t elements) {
  const bool is_trained = in_adapter_ || trainability_.trains(name);
  std::vector<Parameter>& list = is_trained ? model_.parameters : model_.frozen;
  list.push_back({std::move(name), elements, current_layer()});
  return static_cast<std::uint32_t>(list.size() - 1) + (is_trained ? 0 : kFrozen);
}

std::int64_t Tape::elements_of(std::uint32_t parameter) const {
  return trains(parameter) ? model_.parameters[parameter].elements
                           : model_.frozen[parameter - kFrozen].elements;
}

void Tape::untrained(std::string_view suffix, std::int64_t elements) {
  model_.frozen.push_back({fmt::format("{}.{}", layer_path(), suffix), elements, current_layer()});
}

/// Widens element-wise work to fp32 where its result is fp32 beside weights of 16 bits.
void Tape::widen(Operator& op, std::uint32_t made) const {
  const bool follows_operands =
      op.product_count == 0 && op.half_capable && op.width == ElementWidth::by_precision;
  if (follows_operands && trainability_.tuning().upcast != Upcast::none && lifetimes_.is_wide(made))
    op.width = ElementWidth::full;
}

void Tape::forward(Operator op) {
  if (steps_ > 1) op = in_steps(op, steps_);
  op.layer = current_layer();
  lifetimes_.run(op);
  for (const std::uint32_t made : std::exchange(unsettled_, {})) widen(op, made);
  model_.forward.push_back(op);
}

/// Returns the backward steps of a layer that runs as a loop. The loop makes the weights' gradients at every
/// step; one more operator adds them up.
std::vector<BackwardStep> Tape::stepwise(std::vector<BackwardStep> steps) const {
  std::vector<BackwardStep> out;
  for (BackwardStep& step : steps) {
    double elements = 0;
    for (const std::uint32_t parameter : step.ready)
      elements += static_cast<double>(model_.parameters[parameter].elements);
    std::vector<std::uint32_t> ready = std::move(step.ready);
    out.push_back({in_steps(step.op, steps_), {}});
    if (elements > 0) out.push_back({sum_over_steps(elements, steps_), {}});
    out.back().ready = std::move(ready);
  }
  return out;
}

// A result without gradient has no node, and nothing is kept for it.
void Tape::node(std::vector<BackwardStep> steps, std::vector<TensorId> parents, TensorId made) {
  if (!tensors_[made].needs_gradient) {
    kept_.clear(), kept_bytes_ = {};
    return lifetimes_.drop_node();
  }
  count_kept();
  if (!trainability_.is_everything()) steps = without_frozen(std::move(steps));
  for (BackwardStep& step : steps) widen(step.op, tensors_[made].storage);
  if (steps_ > 1) steps = stepwise(std::move(steps));
  nodes_.push_back({std::move(steps), std::move(parents), made, current_layer()});
  lifetimes_.add_node(tensors_[made].storage);
}

void Tape::save(Amount bytes) {
  lifetimes_.keep(bytes);
  kept_bytes_ += bytes;
}

// Views share a storage with their tensor: each storage counts once.
void Tape::count_kept() {
  count(kept_bytes_);
  for (const TensorId tensor : kept_) {
    const std::uint32_t storage = tensors_[tensor].storage;
    if (std::exchange(storage_saved_[storage], std::uint8_t{1}) == 0)
      count(per_sample(storage_bytes_[storage]));
  }
  kept_.clear(), kept_bytes_ = {};
}

void Tape::count(Amount bytes) {
  model_.saved_bytes += bytes;
  if (!model_.layer_traces.empty()) model_.layer_traces.back().saved_bytes += bytes;
}

void Tape::save(TensorId tensor) {
  lifetimes_.keep(tensors_[tensor].storage);
  kept_.push_back(tensor);
}

/// Reports to the recorder what the node's steps, from `first` on, leave behind and release.
void Tape::follow(const Node& node, std::uint32_t first) {
  // `last` is the node's last step. A node without steps, a view, has first == last.
  const auto last = std::max(
      first, static_cast<std::uint32_t>(model_.backward.size()) - (model_.backward.size() > first ? 1 : 0));
  for (const TensorId parent : node.parents) {
    const TapeTensor& tensor = tensors_[parent];
    if (!tensor.needs_gradient) continue;
    lifetimes_.hand_gradient({node.made, parent, tensor.storage, tensors_[node.made].storage,
                              4 * tensor.part * static_cast<double>(tensor.shape.elements()),
                              node.steps.empty(), first, last});
  }
  lifetimes_.play(node.made, last);
  for (std::uint32_t step = first; step < model_.backward.size(); ++step) {
    for (const std::uint32_t parameter : model_.backward[step].ready) {
      if (parameter < model_.parameters.size())
        lifetimes_.parameter_gradient(parameter,
                                      4 * static_cast<double>(model_.parameters[parameter].elements), step);
    }
  }
}

// A parent that has a gradient already gets one more operator, which adds the new contribution. The
// parameters of the node are ready only behind that operator, so they move to it.
void Tape::play(Node& node, std::vector<std::uint8_t>& has_gradient) {
  const auto first = static_cast<std::uint32_t>(model_.backward.size());
  for (BackwardStep& step : node.steps) {
    step.op.backward = true, step.op.layer = node.layer;
    model_.backward.push_back(std::move(step));
  }
  for (const TensorId parent : node.parents) {
    if (!tensors_[parent].needs_gradient) continue;
    if (std::exchange(has_gradient[parent], std::uint8_t{1}) == 0) continue;
    const auto n = static_cast<double>(tensors_[parent].shape.elements());
    BackwardStep accumulate{
        make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(12 * n)), {}};
    accumulate.op.backward = true, accumulate.op.layer = node.layer;
    if (!node.steps.empty()) std::swap(accumulate.ready, model_.backward.back().ready);
    model_.backward.push_back(std::move(accumulate));
  }
  follow(node, first);
}

ExpandedModel Tape::finish() && {
  count_kept();
  std::vector<std::uint8_t> has_gradient(tensors_.size(), 0);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) play(*node, has_gradient);
  model_.lifetimes = std::move(lifetimes_).finish(static_cast<std::uint32_t>(model_.backward.size()));
  settle_shared_weights(model_);
  return std::move(model_);
}

}  // namespace foretrain
