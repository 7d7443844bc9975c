// Memory of one GPU in training: parameters, gradients, optimizer state, buckets, activations, framework.
#pragma once

#include "sim/base/units.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

struct MemoryUse {
  Bytes parameters{}, gradients{}, optimizer{}, buckets{}, activations{}, framework{};
  Bytes total() const { return parameters + gradients + optimizer + buckets + activations + framework; }
};

/// `bucket_bytes`: what the strategy holds besides the gradients (DDP: the buckets). Formula: docs/models/memory.md.
MemoryUse memory_use(const Workload& workload, Bytes bucket_bytes);

}  // namespace foretrain
