// The tape of a forward pass and its reversal into the backward pass.
//
// Autograd runs the ready node that was created last. Every consumer of a tensor is created after its producer, so the node
// created last among those not yet run is always ready, and the order is simply the reversed tape. A gradient that meets an
// earlier one is added by an operator of its own, right after the node that made it and before the parameters of that node
// are handed on.
#include "sim/workload/tape.hpp"

#include <utility>

namespace foretrain {

Tape::Tape(std::string model_name) { model_.name = std::move(model_name), model_.modules = 1; }

void Tape::begin_layer(std::string path) { model_.layer_names.push_back(std::move(path)); }

TensorId Tape::add_tensor(TapeTensor tensor) {
  model_.largest_activation_elements = std::max(model_.largest_activation_elements, tensor.shape.elements());
  tensors_.push_back(tensor);
  return static_cast<TensorId>(tensors_.size() - 1);
}

TensorId Tape::input(const Shape& shape) {
  model_.input_elements = shape.elements();
  storage_saved_.push_back(0);
  return add_tensor({shape, false, 0});
}

TensorId Tape::result(const Shape& shape, const std::vector<TensorId>& parents, bool trained) {
  bool needs_gradient = trained;
  for (const TensorId parent : parents) needs_gradient = needs_gradient || tensors_[parent].needs_gradient;
  storage_saved_.push_back(0);
  return add_tensor({shape, needs_gradient, static_cast<std::uint32_t>(storage_saved_.size() - 1)});
}

TensorId Tape::alias(const Shape& shape, TensorId parent) {
  return add_tensor({shape, tensors_[parent].needs_gradient, tensors_[parent].storage});
}

std::uint32_t Tape::parameter(std::string_view suffix, std::int64_t elements) {
  std::string name = layer_path();
  name.append(".").append(suffix);
  model_.parameters.push_back({std::move(name), elements, current_layer()});
  return static_cast<std::uint32_t>(model_.parameters.size() - 1);
}

void Tape::forward(Operator op) {
  op.layer = current_layer();
  model_.forward.push_back(op);
}

void Tape::node(std::vector<BackwardStep> steps, std::vector<TensorId> parents, TensorId made) {
  if (!tensors_[made].needs_gradient) return;
  nodes_.push_back({std::move(steps), std::move(parents), current_layer()});
}

void Tape::save(TensorId tensor) {
  const TapeTensor& kept = tensors_[tensor];
  if (std::exchange(storage_saved_[kept.storage], std::uint8_t{1}) != 0) return;
  const double element_bytes = kept.shape.kind == ShapeKind::tokens ? 8 : 4;
  save(per_sample(element_bytes * static_cast<double>(kept.shape.elements())));
}

void Tape::play(Node& node, std::vector<std::uint8_t>& has_gradient) {
  for (BackwardStep& step : node.steps) {
    step.op.backward = true, step.op.layer = node.layer;
    model_.backward.push_back(std::move(step));
  }
  for (const TensorId parent : node.parents) {
    if (!tensors_[parent].needs_gradient) continue;
    if (std::exchange(has_gradient[parent], std::uint8_t{1}) == 0) continue;
    const auto n = static_cast<double>(tensors_[parent].shape.elements());
    BackwardStep accumulate{make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(12 * n)), {}};
    accumulate.op.backward = true, accumulate.op.layer = node.layer;
    if (!node.steps.empty()) std::swap(accumulate.ready, model_.backward.back().ready);
    model_.backward.push_back(std::move(accumulate));
  }
}

ExpandedModel Tape::finish() && {
  std::vector<std::uint8_t> has_gradient(tensors_.size(), 0);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) play(*node, has_gradient);
  return std::move(model_);
}

}  // namespace foretrain
