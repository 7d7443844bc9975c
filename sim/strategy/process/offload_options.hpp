// Options of strategies that keep part of the training state in host memory or on NVMe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Place of a part of the training state: DeepSpeed's OffloadDeviceEnum.
enum class OffloadDevice : std::uint8_t { none, cpu, nvme };

/// Options of ZeRO-Offload: threads and cores of the optimizer on the CPU, and page-locked buffers.
struct OffloadOptions {
  /// OMP_NUM_THREADS of a rank; none: the value that its launcher sets.
  std::optional<int> cpu_threads{};
  /// Each rank has its part of the cores, as with `deepspeed --bind_cores_to_rank`.
  bool bind_cores_to_rank = false;
  /// Buffers on the host are page-locked.
  bool pin_memory = true;
};

/// Returns the keys of OffloadOptions in [strategy].
std::vector<Knob> offload_knobs();

/// Returns the number of ranks on the node of the representative.
int ranks_of_own_node(const PlanRequest& request);

/// Returns the threads of one rank for host_update_time(). `by_launcher`: the value where the options state
/// none; 0 means a thread for each core of the node.
int host_threads(const PlanRequest& request, int by_launcher);

/// Returns the seconds that a drive of the node takes when each of its ranks reads or writes `bytes_of_rank`.
/// The rate is assumed if the cluster states none.
double drive_read_s(const PlanRequest& request, double bytes_of_rank);
double drive_write_s(const PlanRequest& request, double bytes_of_rank);
/// Returns the assumption behind these two functions, for Decisions; empty when the cluster states both
/// rates.
const char* assumed_drive(const PlanRequest& request);

}  // namespace foretrain
