// What one torch.nn.DataParallel wraps: a network without its losses, or one layer of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Operators point into the model they come from.
struct WrappedModule {
  std::vector<const Operator*> forward;
  std::vector<const BackwardStep*> backward;
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters, registration order
  std::vector<std::int64_t> elements;     ///< of these
  std::vector<std::int64_t> float_buffers, integer_buffers;  ///< elements, of 4 and 8 bytes
  std::int64_t modules = 1;
  std::int64_t output_elements = 0;  ///< per sample
  std::size_t buffers() const { return float_buffers.size() + integer_buffers.size(); }
};

/// Whether a layer of the model is a loss, by its number: scripts keep it outside of the wrapped network.
std::vector<bool> loss_layers(const ExpandedModel& model);

/// Everything but the losses. Its outputs are what the losses take.
WrappedModule wrap_network(const ExpandedModel& model);
/// Every layer that runs operators by itself, in the order of the forward pass; without losses, and without
/// views, which scripts write as calls of a tensor.
std::vector<WrappedModule> wrap_layers(const ExpandedModel& model);
/// The operators of the losses.
WrappedModule losses_of(const ExpandedModel& model);

}  // namespace foretrain
