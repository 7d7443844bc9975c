// Host memory of offload: bytes a parameter times parameters. A drive takes masters, moments and gradients
// and leaves only their buffers in memory.
#include "sim/workload/device/host_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace foretrain {

namespace {

/// Python with PyTorch, the CUDA context's part on the host, and a loader: assumed, 2 to 4 GB are usual.
constexpr double kProcessBytes = 3e9;
constexpr double kGradientBytes = 4;
/// DeepSpeed's swappers hold buffer_count = 4 tensors of each kind. This is their share of the bytes on the
/// drive for a network with many blocks (assumed).
constexpr double kSwapBuffers = 0.05;
constexpr double kMostHostBytes = 1e17;

Bytes whole_bytes(double bytes) {
  return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, kMostHostBytes))};
}

}  // namespace

HostMemoryUse HostMemoryUse::times(int ranks) const {
  const auto all = [ranks](Bytes one) { return Bytes{one.count * ranks}; };
  return {all(masters),     all(moments), all(gradients), all(weights),
          all(activations), all(buffers), all(processes), all(on_drive)};
}

HostMemoryUse host_memory_use(const HostShare& share) {
  HostMemoryUse use;
  use.processes = whole_bytes(kProcessBytes);
  double on_drive = 0, buffers = 0;
  if (share.optimizer) {
    const double masters = share.master_bytes * share.trained, moments = share.state_bytes * share.trained,
                 gradients = std::min(kGradientBytes, share.master_bytes) * share.trained;
    if (share.optimizer_on_drive) {
      on_drive += masters + moments + gradients;
      buffers += kSwapBuffers * (masters + moments + gradients);
    } else {
      use.masters = whole_bytes(masters), use.moments = whole_bytes(moments);
      use.gradients = whole_bytes(gradients);
      buffers += share.buffer_share * (masters + moments + gradients);
    }
  }
  const double weights = share.weight_bytes * share.trained + share.frozen_bytes;
  if (share.parameters_on_drive) {
    on_drive += weights, buffers += kSwapBuffers * weights;
  } else {
    use.weights = whole_bytes(weights);
  }
  use.buffers = whole_bytes(buffers), use.on_drive = whole_bytes(on_drive);
  return use;
}

// The difference between a tensor's size and the power of two above it counts as buffers.
HostMemoryUse with_activations(HostMemoryUse use, const std::vector<double>& tensor_bytes) {
  double sum = 0, taken = 0;
  for (const double bytes : tensor_bytes) {
    if (bytes < 1) continue;
    sum += bytes, taken += std::exp2(std::ceil(std::log2(bytes)));
  }
  if (sum <= 0) return use;
  use.activations = whole_bytes(sum), use.buffers = use.buffers + whole_bytes(taken - sum);
  use.processes = whole_bytes(kProcessBytes);
  return use;
}

}  // namespace foretrain
