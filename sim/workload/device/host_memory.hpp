// Memory of the host that a training with offload holds, as a list of accounts (docs/models/memory.md).
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// The accounts of host memory, of one rank or of all ranks of a node.
struct HostMemoryUse {
  Bytes masters{};      ///< weights that the optimizer steps on
  Bytes moments{};      ///< the optimizer's state
  Bytes gradients{};    ///< gradients as the optimizer reads them
  Bytes weights{};      ///< the copy of 16 bits that goes to the GPU
  Bytes activations{};  ///< activations that wait for backward
  Bytes buffers{};      ///< page-locked buffers, and what allocations of them are rounded up by
  Bytes processes{};    ///< Python, CUDA and its pinned pool
  Bytes on_drive{};     ///< bytes on NVMe, which are no memory
  Bytes total() const { return masters + moments + gradients + weights + activations + buffers + processes; }
  /// True when anything was moved to the host.
  bool is_used() const { return total().count > 0 || on_drive.count > 0; }
  /// Returns the same accounts for this number of equal ranks.
  HostMemoryUse times(int ranks) const;
  friend bool operator==(const HostMemoryUse&, const HostMemoryUse&) = default;
};

/// The share of a training that a rank moves to its host.
struct HostShare {
  double trained = 0;       ///< elements that get gradients
  double frozen_bytes = 0;  ///< bytes of weights without gradients, where parameters are moved
  double state_bytes = 8;   ///< bytes of the optimizer's state for each trained element
  double master_bytes = 4;  ///< bytes of an element of the weights that the optimizer steps on
  double weight_bytes = 0;  ///< bytes of a copy beside these: 2 with parameters in host memory; 0: none
  double buffer_share = 0;  ///< buffers, as a share of masters, moments and gradients
  bool optimizer = true;    ///< masters, moments and gradients are there
  bool optimizer_on_drive = false, parameters_on_drive = false;
};
/// Returns the accounts of one rank without activations. Sizes are clamped to 0 and 1e17 bytes.
HostMemoryUse host_memory_use(const HostShare& share);

/// Adds copies of activations of these sizes to the memory that a rank uses on its host. PyTorch's allocator
/// of pinned memory rounds each up to a power of two (CachingHostAllocator).
HostMemoryUse with_activations(HostMemoryUse use, const std::vector<double>& tensor_bytes);

/// Share that DeepSpeed adds to masters, moments and gradients: its own estimate for ZeRO-Offload is 1.5
/// times their 16 bytes (stage3.py, additional_buffer_factor). 23 to 25 bytes were measured (issue 3448).
inline constexpr double kDeepSpeedBuffers = 0.5;

}  // namespace foretrain
