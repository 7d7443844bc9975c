// How TensorFlow groups gradients into the messages that are reduced across GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Gradients that are concatenated once all of them are there, and the messages the result is sent in. One
/// gradient alone is not copied.
struct GradientPack {
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters
  std::vector<Bytes> messages;
  bool is_copied() const { return parameters.size() > 1; }
  Bytes size() const;
};

/// `num_packs` of NcclAllReduce and HierarchicalCopyAllReduce: all gradients in one tensor, cut into so many
/// equal parts of whole elements, of which the last takes the rest; 0: every gradient by itself, in the order
/// of arrival.
std::vector<GradientPack> packs_by_number(const ExpandedModel& model, int num_packs,
                                          std::int64_t element_bytes);

/// `bytes_per_pack` of CollectiveAllReduce: gradients against registration order; a pack is closed when it
/// has grown beyond the limit, so tensors are never cut; 0: one pack.
std::vector<GradientPack> packs_by_size(const ExpandedModel& model, Bytes bytes_per_pack,
                                        std::int64_t element_bytes);

}  // namespace foretrain
