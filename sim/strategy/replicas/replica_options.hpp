// The options of tf.distribute's strategies.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace foretrain {

/// How tf.distribute adds up gradients of the GPUs.
enum class CrossDeviceOps : std::uint8_t {
  nccl,
  hierarchical_copy,
  reduction_to_one_device,
  ring,
  reduction_in_turn
};

/// mirrored and multi_worker_mirrored.
struct ReplicaOptions {
  CrossDeviceOps cross_device_ops = CrossDeviceOps::nccl;
  bool private_threads = false;  ///< TF_GPU_THREAD_MODE = gpu_private
};

/// Options of TensorFlow's MirroredStrategy: one process with a replica on each GPU of a node.
struct MirroredOptions {
  int num_packs = 1;  ///< 0: every gradient by itself
};

/// Options of TensorFlow's MultiWorkerMirroredStrategy: one process on each node, with a replica on each of
/// its GPUs.
struct MultiWorkerMirroredOptions {
  Bytes bytes_per_pack{0};  ///< 0: one pack
};

}  // namespace foretrain
