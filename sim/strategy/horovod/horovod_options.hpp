// The options of Horovod, as its environment variables set them.
#pragma once

#include <optional>

#include "sim/base/units.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// Members that are empty take the default of Horovod's version. Compression is among the GradientOptions.
struct HorovodOptions {
  std::optional<FrameworkVersion> horovod_version{};  ///< before 0.21 other defaults
  std::optional<Bytes> fusion_threshold{};
  std::optional<Time> cycle_time{};
  int cache_capacity = 1024;  ///< tensors; 0 negotiates every one anew
  /// TensorFlow: gradients of looked-up tables are reduced as dense tensors.
  bool sparse_as_dense = false;
  bool batch_copies = true;  ///< batched copies into and out of the fusion buffer
  bool hierarchical_allreduce = false;
  bool torus_allreduce = false;
};

}  // namespace foretrain
