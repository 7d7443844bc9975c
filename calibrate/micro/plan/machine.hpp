// What there is to measure: GPUs, libraries, CPU cores, and the ranks this process was started with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/csv/measurements.hpp"

namespace foretrain::micro {

struct GpuFacts {
  std::string name;
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
  int major = 0, minor = 0;  ///< compute capability
  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

/// A value; plans are made from it alone, so they are tested without a GPU.
struct Machine {
  std::vector<GpuFacts> gpus;
  bool has_cublas = false, has_cudnn = false, has_nccl = false, has_python = false;
  int cpus = 1;
  int ranks = 1, nodes = 1;  ///< of the job this process belongs to, one GPU per rank
  bool may_spawn =
      true;  ///< whether points that need other NCCL_* variables may be measured in child processes
  Settings environment;  ///< the NCCL_* variables of this process that decide what NCCL does

  int gpu_count() const { return static_cast<int>(gpus.size()); }
};

}  // namespace foretrain::micro
