// Libraries that come with a framework or that a GPU needs, where the scenario names none.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// The NCCL that the binaries of this version bring along, or, for TensorFlow 1, that was current with it
/// (Horovod links the system's).
nccl::Version nccl_of(const Framework& framework);

/// `version`, or on GPUs that are younger than it the NCCL of the first PyTorch that was built for them.
nccl::Version at_least_for(Architecture gpu, const nccl::Version& version);

}  // namespace foretrain
