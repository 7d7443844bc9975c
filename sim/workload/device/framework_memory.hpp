// Memory of a GPU besides a training's tensors.
#pragma once

#include "sim/workload/device/memory.hpp"

namespace foretrain {

/// Returns the bytes of CUDA's context with its libraries, of NCCL, and of the allocator: the rounding of
/// `allocated` bytes and the holes between them (docs/models/memory.md).
Bytes framework_bytes(const MemorySite& site, Bytes allocated);  // memory.cpp

/// Returns the scratch memory of cuDNN's convolutions and the holes that it leaves between activations; 0
/// without convolutions.
Bytes convolution_scratch(const Workload& workload, Bytes activations);  // memory.cpp

}  // namespace foretrain
