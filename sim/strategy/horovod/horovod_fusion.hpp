// Packing of the gradients of one cycle into messages, as Horovod does it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A gradient in the queue, on its way to the wire.
struct FusionTensor {
  std::uint32_t parameter;  ///< index into ExpandedModel::parameters
  Bytes size{};
  std::int64_t element_bytes = 4;  ///< bytes of an element: only equal types share a message
  bool gathered = false;           ///< sparse: rows of all ranks, a message of its own
};

/// An all-reduce of a fusion buffer, or of a single tensor in its own memory.
struct FusedMessage {
  std::vector<std::uint32_t> parameters;
  Bytes size{};  ///< on the wire, padding included
  bool is_fused() const { return parameters.size() > 1; }
};

/// Returns the effective threshold: rounded up to a multiple of ranks_per_node x 64 elements of 8 bytes; 0
/// stays 0 (horovod/common/controller.cc, TensorFusionThresholdBytes).
Bytes rounded_threshold(Bytes asked, int ranks_per_node);

/// Returns the messages in launch order. The first waiting tensor opens a message. Those behind it join while
/// their type is the same and the sum stays within the threshold. A tensor that does not fit is skipped as
/// long as message and skipped tensors together do not exceed the threshold; then the message is closed. With
/// `padded`, batched copies round every tensor up to 16 bytes; a tensor that stays alone is never padded on
/// the wire (FuseResponses in the same file).
std::vector<FusedMessage> fuse(std::span<const FusionTensor> waiting, Bytes threshold, bool padded);

}  // namespace foretrain
