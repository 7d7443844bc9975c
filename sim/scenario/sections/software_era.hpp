// Versions that a year, a container or a module means, and libraries that come with a framework or are needed
// by a GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// Returns the NCCL that the binaries of this version contain, or, for TensorFlow 1, that was current at its
/// release (Horovod links the system's).
nccl::Version nccl_of(const Framework& framework);

/// Returns the CUDA toolkit that PyTorch's default binaries of this version contain; 0.0 for TensorFlow,
/// whose binaries use the system's.
FrameworkVersion cuda_of(const Framework& framework);

/// Returns `version`, or for GPUs that are newer than it the NCCL of the first PyTorch that was built for
/// them.
nccl::Version at_least_for(Architecture gpu, const nccl::Version& version);

/// Returns the oldest PyTorch whose binaries, or whose container of NVIDIA, have kernels for these GPUs; 0.0:
/// all have.
FrameworkVersion first_pytorch_for(Architecture gpu);

/// The software of a job as one value.
struct SoftwareStack {
  FrameworkKind framework = FrameworkKind::pytorch;
  FrameworkVersion version;
  nccl::Version nccl;
  FrameworkVersion cuda{0, 0};  ///< toolkit; 0.0: the text does not tell
};

/// A stack, or one sentence on why the text names none.
struct SoftwareReading {
  std::optional<SoftwareStack> stack;
  std::string problem{}, hint{};
};

/// Reads the software that a text names. A year ("2020") or month ("2020-10") means its newest release; a
/// year means that of 1 July. A container of NVIDIA is written "ngc-24.07",
/// "nvcr.io/nvidia/pytorch:24.07-py3" or "pytorch_24.07-py3.sif". A module, package or image has its
/// framework and version ("pytorch/2.1", "pytorch/pytorch:1.13.1-cuda11.6",
/// "PyTorch/2.1.2-foss-2023a-CUDA-12.1.1"). `usual` is the framework of a year and of "ngc-24.07". Releases
/// after the last one in the tables have the libraries of the last.
SoftwareReading read_software(std::string_view text, FrameworkKind usual);

/// Returns whether such a release exists, or may be newer than this program.
bool was_released(FrameworkKind framework, const FrameworkVersion& version);

}  // namespace foretrain
