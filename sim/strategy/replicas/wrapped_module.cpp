// Wrapped modules. Operators and parameters know their layer. Buffers come in the order of the batch
// normalizations, with the same number for each.
#include "sim/strategy/replicas/data_parallel_steps.hpp"

namespace foretrain {

namespace {

/// Takes the operators of the layers that `layers` marks.
void take_operators(WrappedModule& module, const ExpandedModel& model, const std::vector<bool>& layers) {
  for (const Operator& op : model.forward) {
    if (layers[op.layer]) module.forward.push_back(&op);
  }
  for (const BackwardStep& step : model.backward) {
    if (layers[step.op.layer]) module.backward.push_back(&step);
  }
}

/// Takes the parameters of the layers that `layers` marks.
void take_parameters(WrappedModule& module, const ExpandedModel& model, const std::vector<bool>& layers) {
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
    if (!layers[model.parameters[i].layer]) continue;
    module.parameters.push_back(i);
    module.elements.push_back(model.parameters[i].elements);
  }
}

void take_buffer(WrappedModule& module, const Buffer& buffer) {
  (buffer.element_bytes == 8 ? module.integer_buffers : module.float_buffers).push_back(buffer.elements);
}

/// Returns the layers with running statistics, in the order of forward.
std::vector<std::uint32_t> layers_with_buffers(const ExpandedModel& model) {
  std::vector<std::uint32_t> layers;
  for (const Operator& op : model.forward) {
    if (op.call == HostCall::batch_norm && (layers.empty() || layers.back() != op.layer))
      layers.push_back(op.layer);
  }
  return layers;
}

/// Returns the elements per sample of the last layer before `layer` that is not a loss.
std::int64_t elements_before(const ExpandedModel& model, std::size_t layer, const std::vector<bool>& losses) {
  while (layer-- > 0) {
    if (!losses[layer] && model.layer_traces[layer].result.elements() > 0)
      return model.layer_traces[layer].result.elements();
  }
  return 0;
}

}  // namespace

std::vector<bool> loss_layers(const ExpandedModel& model) {
  std::vector<bool> losses(model.layer_names.size(), false);
  for (const Operator& op : model.forward) losses[op.layer] = losses[op.layer] || op.call == HostCall::loss;
  return losses;
}

/// Parameters of losses belong to the network too, so all are taken.
WrappedModule wrap_network(const ExpandedModel& model) {
  const std::vector<bool> losses = loss_layers(model);
  std::vector<bool> network = losses;
  network.flip();
  WrappedModule module;
  module.modules = model.modules;
  take_operators(module, model, network);
  take_parameters(module, model, std::vector<bool>(losses.size(), true));
  for (const Buffer& buffer : model.buffers) take_buffer(module, buffer);
  for (std::size_t layer = 0; layer < losses.size(); ++layer) {
    if (losses[layer]) module.output_elements += elements_before(model, layer, losses);
  }
  // A network without a loss layer returns its last layer's result.
  if (module.output_elements == 0 && !losses.empty())
    module.output_elements = model.layer_traces.back().result.elements();
  return module;
}

WrappedModule losses_of(const ExpandedModel& model) {
  WrappedModule losses;
  take_operators(losses, model, loss_layers(model));
  return losses;
}

std::vector<WrappedModule> wrap_layers(const ExpandedModel& model) {
  const std::vector<bool> losses = loss_layers(model);
  const std::vector<std::uint32_t> normalized = layers_with_buffers(model);
  const std::size_t each = normalized.empty() ? 0 : model.buffers.size() / normalized.size();
  // Losses count as seen, so they are not wrapped.
  std::vector<bool> seen = losses;
  std::vector<WrappedModule> modules;
  for (const Operator& op : model.forward) {
    if (seen[op.layer] || op.call == HostCall::view) continue;
    seen[op.layer] = true;
    std::vector<bool> layer(losses.size(), false);
    layer[op.layer] = true;
    WrappedModule module;
    take_operators(module, model, layer);
    take_parameters(module, model, layer);
    for (std::size_t i = 0; i < normalized.size(); ++i) {
      if (normalized[i] != op.layer) continue;
      for (std::size_t b = 0; b < each; ++b) take_buffer(module, model.buffers[i * each + b]);
    }
    module.output_elements = model.layer_traces[op.layer].result.elements();
    modules.push_back(std::move(module));
  }
  return modules;
}

}  // namespace foretrain
