// How a job's collectives are to run: the library's settings and how its processes were launched.
#pragma once

#include <string>

#include "sim/collective/nccl/settings.hpp"

namespace foretrain {

struct CollectiveSettings {
  nccl::Settings nccl{};
  int processes_per_node =
      0;  ///< 0: one per GPU; one process that drives several GPUs launches their kernels one after the other
  bool operator==(const CollectiveSettings&) const = default;
};

}  // namespace foretrain
