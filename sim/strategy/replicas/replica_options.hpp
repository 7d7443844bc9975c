// Options of tf.distribute's strategies.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace foretrain {

/// Implementations of the sum of gradients over GPUs in tf.distribute and tf_cnn_benchmarks.
enum class CrossDeviceOps : std::uint8_t {
  nccl,
  hierarchical_copy,
  reduction_to_one_device,
  ring,
  reduction_in_turn
};

/// Options of mirrored and multi_worker_mirrored.
struct ReplicaOptions {
  CrossDeviceOps cross_device_ops = CrossDeviceOps::nccl;
  /// TF_GPU_THREAD_MODE = gpu_private.
  bool private_threads = false;
};

/// Options of TensorFlow's MirroredStrategy: one process with a replica on each GPU of a node.
struct MirroredOptions {
  /// Parts of the pack of all gradients; 0: every gradient by itself.
  int num_packs = 1;
};

/// Options of TensorFlow's MultiWorkerMirroredStrategy: one process on each node, with a replica on each of
/// its GPUs.
struct MultiWorkerMirroredOptions {
  /// Size beyond which a pack is closed; 0: one pack.
  Bytes bytes_per_pack{0};
};

}  // namespace foretrain
